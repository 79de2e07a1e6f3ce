// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Keeps these fields, in this order. Moves no bytes.
/// @throws Error(schema_mismatch) if a field is missing.
/// @throws Error(invalid_argument) if `names` is empty.
PENSTOCK_API Stage select_fields(std::vector<std::string> names);

/// Leaves these fields out, for instance a field that only a `map` with `.out` needed. Moves no bytes.
/// @throws Error(schema_mismatch) if a field is missing.
/// @throws Error(invalid_argument) if `names` is empty, or no field is left.
PENSTOCK_API Stage drop_fields(std::vector<std::string> names);

/// Gives a field another name. The field keeps its slot, its values and its settings for rows (`pad`, `ragged`,
/// `bucket`). Moves no bytes; image stages before and after this stage still fold.
/// @throws Error(schema_mismatch) if there is no field `from`.
/// @throws Error(invalid_argument) if there is a field `to` already.
PENSTOCK_API Stage rename(std::string from, std::string to);
/// Overload of `rename` for literals. After `using namespace penstock`, this overload makes an unqualified call
/// ambiguous, which is an error. Without the overload, such a call would reach the C library's `rename`, which renames
/// files.
inline Stage rename(const char* from, const char* to) { return rename(std::string(from), std::string(to)); }

}  // namespace penstock
