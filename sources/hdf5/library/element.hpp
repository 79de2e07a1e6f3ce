// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "library/access.hpp"
#include "library/library.hpp"

namespace penstock::hdf5 {

/// How an element is read, with the types that the library needs for that.
struct Element : ElementFacts {
  Handle stored;                  ///< the element's type in the file
  Handle memory;                  ///< the type to which the library converts it, if `form` is `converted` or `variable`
  std::vector<std::string> path;  ///< a column's names, outermost first
};

/// Thrown if an element's type can't become a field, or has no such column (`no_member`).
struct NoElement {
  std::string reason;
  bool no_member = false;
};

/// Returns how an element of the type is read. For a compound type, `member` names the column (parts joined by '.').
/// Call under the lock. @throws NoElement.
Element element_of(hid_t type, const std::string& member = {});

/// Returns a string of fixed size without its padding.
std::string_view without_padding(std::string_view text, H5T_str_t padding) noexcept;

/// Returns the names of all columns of a compound type. The names of nested columns are joined by '.'. For any other
/// type, returns one empty name.
std::vector<std::string> members_of(hid_t type);

/// Returns whether the type has, at any depth, parts whose values are elsewhere in the file: strings or sequences
/// without a fixed size, or references.
bool has_variable_parts(hid_t type);

/// Returns a compound type with only one column, nested like in the file. `path`: the column's names, outermost first.
/// `memory`: the column's type. If `path` is empty, returns a copy of `memory`.
Handle nested_in(std::span<const std::string> path, hid_t memory);

}  // namespace penstock::hdf5
