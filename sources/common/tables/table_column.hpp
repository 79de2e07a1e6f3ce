// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/schema.hpp>

#include "common/tables/text_table.hpp"

namespace penstock::common {

inline constexpr std::size_t no_line = static_cast<std::size_t>(-1);

/// One value for each slide that has a line; the values of other slides mean nothing.
struct TableColumn {
  Field field = {};
  std::vector<std::int64_t> whole = {};  ///< values of a field of whole numbers, or of classes
  std::vector<float> numbers = {};       ///< values of a field of other numbers
};

/// Returns whether the cell has no value, in a column of any kind.
bool is_missing(std::string_view cell);
/// Returns whether the cell has no value in a column of numbers: it is missing, or programs write it for a missing
/// number ("N/A", "nan", "NULL", ...).
bool is_missing_number(std::string_view cell);
/// Returns a number in C's syntax, with or without '+'; none if the cell is not a number, or one that f64 doesn't hold.
std::optional<double> number_in(std::string_view cell);

/// Returns the Error(invalid_argument) for a cell that would be a number without its comma.
Error decimal_comma(const TextTable& table, std::size_t column, std::size_t line);

/// Reads the values of a column in the lines of slides; `no_line`: the slide has none. All lines together decide its
/// kind. Adds a line to `notes` if the column is most likely of a different kind.
/// @throws Error(invalid_argument) if
/// - a cell has no value;
/// - neither i64 nor f32 holds a number;
/// - all cells are numbers except for a comma in some, unless commas separate cells.
TableColumn read_column(const TextTable& table, std::size_t column, std::span<const std::size_t> line_of,
                        std::vector<std::string>& notes);

}  // namespace penstock::common
