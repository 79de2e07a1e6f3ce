#pragma once

#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Keeps these fields, in this order. Moves no bytes. @throws Error(schema_mismatch) when one is missing,
/// Error(invalid_argument) for none.
PENSTOCK_API Stage select_fields(std::vector<std::string> names);

/// Leaves these fields out, for instance one that a `map` with `.out` has read and nobody needs any more. Moves no
/// bytes. @throws Error(schema_mismatch) when one is missing, Error(invalid_argument) for none, and where no field is
/// left.
PENSTOCK_API Stage drop_fields(std::vector<std::string> names);

/// Gives a field another name; its place among the fields, its values and what was said of its rows (`pad`, `ragged`,
/// `bucket`) stay. Moves no bytes, and image stages on either side of it still fold.
/// @throws Error(schema_mismatch) where there is no field `from`, Error(invalid_argument) where there is one `to`.
PENSTOCK_API Stage rename(std::string from, std::string to);
/// `rename` of a field by literals. With this overload, an unqualified call beside `using namespace penstock` is
/// ambiguous with the C library's `rename`, which renames files, instead of calling that.
inline Stage rename(const char* from, const char* to) { return rename(std::string(from), std::string(to)); }

}  // namespace penstock
