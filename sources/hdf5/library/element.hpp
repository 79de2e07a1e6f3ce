// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "library/access.hpp"
#include "library/library.hpp"

namespace penstock::hdf5 {

/// How an element is read, with the types that the library needs for it.
struct Element : ElementFacts {
  Handle stored;                  ///< its type in the file
  Handle memory;                  ///< the type that the library converts it to, if it is converted or variable
  std::vector<std::string> path;  ///< a column's names, outermost first
};

/// Thrown with the reason, a sentence, if an element type has no field.
struct NoElement {
  std::string reason;
  bool no_member = false;
};

/// Returns the one field of a type. For a compound type, `member` names the column (parts joined by '.'). Call under
/// the lock. @throws NoElement.
Element element_of(hid_t type, const std::string& member = {});

/// Returns a string of fixed size without its padding.
std::string_view without_padding(std::string_view text, H5T_str_t padding) noexcept;

/// Returns the names of all columns of a compound type, those of nested types joined by '.'; for any other type one
/// empty name.
std::vector<std::string> members_of(hid_t type);

/// Returns whether the type has, at any depth, parts with values in other places of the file (variable strings and
/// sequences, references).
bool has_variable_parts(hid_t type);

/// Returns a type for the library with only the column of this path, nested as in the file.
Handle nested_in(std::span<const std::string> path, hid_t memory);

}  // namespace penstock::hdf5
