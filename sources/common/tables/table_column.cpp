// SPDX-License-Identifier: Apache-2.0
#include "common/tables/table_column.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include <penstock/extend/system_error.hpp>

#include "common/tables/text_lines.hpp"

namespace penstock::common {

namespace {

constexpr std::size_t told = 60;  // how many characters of a cell an error shows

// Returns invalid_argument if the cell is not a number of this kind (whole, for an integer type), result_out_of_range
// if `Number` can't hold the number.
template <class Number>
std::errc read_number(std::string_view cell, Number& value) {
  if (cell.starts_with("+-")) return std::errc::invalid_argument;
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto [end, failed] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return end == cell.data() + cell.size() ? failed : std::errc::invalid_argument;
}

std::optional<std::int64_t> whole_number_in(std::string_view cell) {
  std::int64_t value = 0;
  return read_number(cell, value) == std::errc() ? std::optional(value) : std::nullopt;
}

bool is_number(std::string_view cell) {
  double value = 0;
  return read_number(cell, value) != std::errc::invalid_argument;
}

// Returns whether the number in the cell can be stored: a whole number as i64, any other number as f32.
bool fits(std::string_view cell) {
  const bool whole = cell.find_first_not_of("+-0123456789") == std::string_view::npos;
  if (whole) return whole_number_in(cell).has_value();
  const auto value = number_in(cell);
  return value && (!std::isfinite(*value) || std::isfinite(static_cast<float>(*value)));
}

// Counts the kinds of cells in a column.
struct CellKindCounts {
  // `numbers` includes "nan". `words`: "NULL" and other words for a missing number.
  std::size_t numbers = 0, texts = 0, words = 0;
  std::size_t first_text = no_line, first_too_large = no_line;
  // How many texts would be numbers if their comma were a point, and the line of the first of these texts.
  std::size_t with_commas = 0, first_with_comma = no_line;
  bool all_whole = true;

  explicit CellKindCounts(std::span<const std::string> cells) {
    for (std::size_t line = 0; line < cells.size(); ++line) {
      const std::string_view cell = cells[line];
      if (is_missing(cell)) continue;
      if (is_number(cell)) {  // true for "nan", which is not whole
        ++numbers;
        all_whole = all_whole && whole_number_in(cell);
        if (first_too_large == no_line && !fits(cell)) first_too_large = line;
      } else if (is_missing_number(cell)) {
        ++words;
      } else {
        if (texts++ == 0) first_text = line;
        if (!with_point(cell).empty() && with_commas++ == 0) first_with_comma = line;
      }
    }
  }
  // If a column has only words, they are names of classes.
  bool are_numbers() const { return texts == 0 && (numbers != 0 || words == 0); }
  bool are_whole() const { return are_numbers() && all_whole; }
};

std::vector<std::string> classes_in(std::span<const std::string> cells) {
  std::vector<std::string> classes;
  for (const std::string& cell : cells)
    if (!is_missing(cell)) classes.push_back(cell);
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

}  // namespace

bool is_missing(std::string_view cell) { return cell.empty() || cell == "NA"; }

bool is_missing_number(std::string_view cell) {
  constexpr std::array<std::string_view, 7> words{"N/A", "n/a", "#N/A", "nan", "NaN", "NULL", "null"};
  return is_missing(cell) || std::ranges::find(words, cell) != words.end();
}

std::optional<double> number_in(std::string_view cell) {
  double value = 0;
  return read_number(cell, value) == std::errc() ? std::optional(value) : std::nullopt;
}

Error decimal_comma(const TextTable& table, std::size_t column, std::size_t line) {
  const std::string& cell = table.columns[column][line];
  return table.error(table.where[line] + " has " + printable(cell, told) + ", a number with a comma: in the column \"" +
                     printable(table.names[column], told) + "\" numbers need a point, " +
                     printable(with_point(cell), told) +
                     "; write them so, or name the columns that you need in `columns`");
}

TableColumn read_column(const TextTable& table, std::size_t column, std::span<const std::size_t> line_of,
                        std::vector<std::string>& notes) {
  const std::string& name = table.names[column];
  const std::vector<std::string>& cells = table.columns[column];
  const CellKindCounts kind(cells);
  if (kind.with_commas != 0 && kind.with_commas == kind.texts && table.separator != ',')
    throw decimal_comma(table, column, kind.first_with_comma);
  const bool whole = kind.are_whole(), numbers = kind.are_numbers();
  if (numbers && kind.first_too_large != no_line)
    throw table.error(table.where[kind.first_too_large] + " has a number in the column \"" + name +
                      "\" that neither i64 nor f32 holds: " + printable(cells[kind.first_too_large], told) +
                      "; make it text, or name the columns that you need in `columns`");
  if (!numbers && kind.numbers + kind.with_commas > kind.texts - kind.with_commas)
    notes.push_back(table.file() + ": the column \"" + printable(name, told) +
                    "\" becomes numbers of classes, though most of its cells are numbers: " +
                    table.where[kind.first_text] + " has \"" + printable(cells[kind.first_text], told) + "\"");
  const std::vector<std::string> classes = numbers ? std::vector<std::string>() : classes_in(cells);
  const bool other_numbers = numbers && !whole;
  TableColumn out{.field = {name, other_numbers ? DType::f32 : DType::i64, {}, {}, ClassNames(classes)}};
  other_numbers ? out.numbers.resize(line_of.size()) : out.whole.resize(line_of.size());
  for (std::size_t slide = 0; slide < line_of.size(); ++slide) {
    const std::size_t line = line_of[slide];
    if (line == no_line) continue;
    const std::string& cell = cells[line];
    const bool missing = numbers ? is_missing_number(cell) : is_missing(cell);
    if (other_numbers)
      out.numbers[slide] = missing ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(*number_in(cell));
    else if (missing)
      throw table.error(table.where[line] + " has no value in the column \"" + name +
                        "\": give it one, leave the line out, or name the columns that you need in `columns`");
    else
      out.whole[slide] = numbers ? *whole_number_in(cell) : std::ranges::lower_bound(classes, cell) - classes.begin();
  }
  return out;
}

}  // namespace penstock::common
