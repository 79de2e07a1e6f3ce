// SPDX-License-Identifier: Apache-2.0
#include "common/tables/text_table.hpp"

#include <algorithm>
#include <utility>

#include <penstock/extend/system_error.hpp>

#include "common/tables/text_lines.hpp"

namespace penstock::common {

namespace {

constexpr std::size_t told = 60;          // how many characters of a name an error shows
constexpr std::size_t columns_told = 40;  // how many names an error shows

std::string where_of(const std::string& file, std::size_t line) {
  constexpr std::size_t digits = 8;
  const std::string number = std::to_string(line);
  return file.substr(file.rfind('/') + 1) + ":" + std::string(digits - std::min(digits, number.size()), '0') + number;
}

}  // namespace

TextTable::TextTable(std::string file, std::string_view source) : file_(std::move(file)), source_(source) {
  ParsedLines read = read_lines(file_, source_, CellCountRule::same);
  std::vector<TextLine>& lines = read.lines;
  if (lines.empty())
    throw file_error(source_, file_, Errc::corrupt, "the file is empty: there is no line with the names of columns");
  separator = read.separator;
  for (const std::string& name : lines.front().cells) names.emplace_back(trimmed(name));
  columns.resize(names.size());
  for (std::vector<std::string>& column : columns) column.reserve(lines.size() - 1);
  for (std::size_t line = 1; line < lines.size(); ++line) {
    std::vector<std::string>& cells = lines[line].cells;
    if (cells.size() != names.size())
      throw file_error(source_, file_, Errc::corrupt,
                       "line " + std::to_string(lines[line].number) + ": it has " + std::to_string(cells.size()) +
                           (cells.size() == 1 ? " cell" : " cells") + "; the file has " + std::to_string(names.size()) +
                           (names.size() == 1 ? " column" : " columns"));
    where.push_back(where_of(file_, lines[line].number));
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (const auto text = trimmed(cells[column]); text.size() != cells[column].size())
        cells[column] = std::string(text);
      columns[column].push_back(std::move(cells[column]));
    }
  }
  for (std::size_t column = 0; column < names.size(); ++column) by_name_[names[column]].push_back(column);
}

std::size_t TextTable::find(const std::string& column) const {
  const auto found = by_name_.find(column);
  if (found != by_name_.end() && found->second.size() == 1) return found->second.front();
  if (found != by_name_.end()) throw error("two columns have the name \"" + column + "\"; give each one of its own");
  std::string all;
  for (std::size_t i = 0; i < std::min(columns_told, names.size()); ++i)
    all += (i == 0 ? "" : ", ") + printable(in_list(names[i]), told);
  if (names.size() > columns_told) all += " and " + std::to_string(names.size() - columns_told) + " more";
  const std::string cause = likely_cause();
  throw error("there is no column \"" + column + "\"; the columns are " + all + (cause.empty() ? "" : "; ") + cause);
}

std::string TextTable::likely_cause() const { return lines() == 0 ? "it has a header, and no lines" : ""; }

Error TextTable::error(std::string why) const {
  return file_error(source_, file_, Errc::invalid_argument, std::move(why));
}

}  // namespace penstock::common
