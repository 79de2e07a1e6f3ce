#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "library/access.hpp"
#include "library/library.hpp"

namespace penstock::hdf5 {

/// What becomes of an element, with what the library needs for it.
struct Element : ElementFacts {
  Handle stored;                  ///< its type in the file
  Handle memory;                  ///< what the library is to make of it, where it is converted or variable
  std::vector<std::string> path;  ///< a column's names, outermost first
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
