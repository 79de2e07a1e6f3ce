#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/dtype.hpp>
#include <penstock/shape.hpp>

#include "library.hpp"

namespace penstock::hdf5 {

/// What becomes of an element of a dataset, or of one column of a compound element.
struct Element {
  enum class Form : std::uint8_t {
    same,       ///< the bytes as they are stored
    swapped,    ///< the other byte order
    truth,      ///< a byte that is 0 or not: boolean
    text,       ///< a string of fixed size, without its padding: [?]
    converted,  ///< by the library, from `stored` to `memory`
    variable,   ///< a string or sequence of any length, by the library: [?]
  };

  Form form = Form::same;
  DType dtype = DType::u8;
  Shape shape;                           ///< beyond the dataset's dimensions
  std::size_t bytes = 0;                 ///< as stored
  std::size_t offset = 0;                ///< of the column in the stored element
  H5T_str_t padding = H5T_STR_NULLTERM;  ///< of text
  Handle stored;                         ///< its type in the file
  Handle memory;                         ///< what the library is to make of it: of converted and variable ones
  bool text = false;                     ///< of variable ones: a string, not a sequence
  std::vector<std::string> path;         ///< of a column: its names, outermost first
};

/// Why an element type has no field, in a sentence.
struct NoElement {
  std::string reason;
  bool no_member = false;
};

/// The one field that a type becomes; of a compound type, `member` names the column (parts joined by '.'). Under the
/// lock. @throws NoElement.
Element element_of(hid_t type, const std::string& member = {});

/// A string of fixed size as it is meant.
std::string_view without_padding(std::string_view text, H5T_str_t padding) noexcept;

/// Names of all columns of a compound type, those of nested ones joined by '.'; of any other type one, empty.
std::vector<std::string> members_of(hid_t type);

/// True where values lie elsewhere in the file (variable strings and sequences, references), at any depth.
bool has_variable_parts(hid_t type);

/// A type for the library that has the column of this path alone, nested as in the file.
Handle nested_in(std::span<const std::string> path, hid_t memory);

}  // namespace penstock::hdf5
