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

/// Adds a field `to` with the same value as the field `from`, for instance for two views of one picture:
///
///     samples | decode_jpeg("image") | copy_field("image", "second")
///             | random_resized_crop("image", {224, 224}) | random_resized_crop("second", {96, 96})
///
/// The picture is decoded once, whole. The stages after this stage work on each field by itself, and draw for each.
/// Bytes are copied only if a stage changes a value in place, or if no stage makes the copy again before the batch. The
/// copy has the settings for rows that `from` has (`pad`, `ragged`). Image stages before and after this stage do not
/// fold.
/// @throws Error(schema_mismatch) if there is no field `from`.
/// @throws Error(invalid_argument) if there is a field `to` already, or `to` is empty.
PENSTOCK_API Stage copy_field(std::string from, std::string to);

}  // namespace penstock
