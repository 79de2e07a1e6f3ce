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

/// One value per slide. The value of a slide without a line means nothing.
struct TableColumn {
  Field field = {};
  std::vector<std::int64_t> whole = {};  ///< values of a field of whole numbers, or of classes
  std::vector<float> numbers = {};       ///< values of a field of other numbers
};

/// Returns whether the cell has no value in a column of any kind: it is empty or "NA".
bool is_missing(std::string_view cell);
/// Returns whether the cell has no value in a column of numbers: `is_missing` is true, or the cell is a word that
/// programs write for a missing number ("N/A", "nan", "NULL", ...).
bool is_missing_number(std::string_view cell);
/// Reads a number like "12", "+0.5", "1e-3", "inf" or "nan", with a point, not a comma. Returns none if the cell is not
/// a number, or if f64 can't hold the number.
std::optional<double> number_in(std::string_view cell);

/// Returns the Error(invalid_argument) for a cell that would be a number if its comma were a point.
Error decimal_comma(const TextTable& table, std::size_t column, std::size_t line);

/// Reads the values of a column for slides. `line_of`: each slide's line, or `no_line`. The column holds numbers if all
/// lines of the table have numbers or no value, and classes otherwise. If all values are words like "N/A", the
/// column holds classes. Adds a sentence to `notes` if the column holds classes although most of its cells are numbers.
/// @throws Error(invalid_argument) if
/// - a slide's cell has no value, in a column of classes or whole numbers;
/// - a cell in a column of numbers has a whole number that i64 can't hold, or another number that f32 can't hold;
/// - commas don't separate the cells, there are texts, and each text would be a number if its comma were a point.
TableColumn read_column(const TextTable& table, std::size_t column, std::span<const std::size_t> line_of,
                        std::vector<std::string>& notes);

}  // namespace penstock::common
