// SPDX-License-Identifier: Apache-2.0
#include "labels.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>

#include "common/tables/text_lines.hpp"
#include "errors.hpp"

namespace penstock::files {

namespace {

std::string below_root(const common::TextLine& line) {
  const std::filesystem::path path = std::filesystem::path(line.cells[0]).lexically_normal();
  std::string text = path.string();
  if (text.empty() || text == "." || path.is_absolute() || *path.begin() == ".." ||
      text.find('\0') != std::string::npos)
    throw Error(Errc::invalid_argument, "line " + std::to_string(line.number) + " names \"" + line.cells[0] +
                                            "\", which is not a file below the root folder");
  return text;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

enum class Kind : std::uint8_t { whole, fraction, name };

// Returns the kind of a line's label. @throws Error(corrupt | invalid_argument) if the line has no valid label.
Kind kind_of_label(const common::TextLine& line) {
  const auto refuse = [&](Errc code, const std::string& why) {
    throw Error(code, "line " + std::to_string(line.number) + why);
  };
  if (line.cells.size() < 2) refuse(Errc::corrupt, " has no label; lines are file,label");
  const std::string& label = line.cells[1];
  if (label.find_first_not_of(" \t") == std::string::npos) refuse(Errc::invalid_argument, " has an empty label");
  if (whole_number(label)) return Kind::whole;
  const std::size_t digits = label.front() == '-' ? 1 : 0;
  if (label.size() > digits && label.find_first_not_of("0123456789", digits) == std::string::npos)
    refuse(Errc::invalid_argument, " has the label " + label + ", which is beyond 64 bits");
  double number = 0;
  const auto [end, failed] = std::from_chars(label.data(), label.data() + label.size(), number);
  const bool all = end == label.data() + label.size() && label.find_first_of("0123456789") != std::string::npos;
  return all ? Kind::fraction : Kind::name;
}

std::string small_extension(const std::string& file) {
  std::string extension = std::filesystem::path(file).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

// Returns whether the first line is a heading. A line whose first cell is an existing file is not a heading. Otherwise
// the line `file,label` is a heading. Any other line is a record of a missing file if its label is a number, or if
// another line has the same label or extension. If not, the line is a heading.
bool begins_with_heading(const std::vector<common::TextLine>& lines, const IsFile& is_file) {
  if (lines.empty()) return false;
  const common::TextLine& first = lines.front();
  if (is_file(std::filesystem::path(first.cells[0]).lexically_normal().string())) return false;
  if (first.cells.size() > 1 && first.cells[0] == "file" && first.cells[1] == "label") return true;
  if (first.cells.size() > 1 && kind_of_label(first) != Kind::name) return false;
  const std::string extension = small_extension(first.cells[0]);
  return std::none_of(lines.begin() + 1, lines.end(), [&](const common::TextLine& line) {
    if (!extension.empty() && small_extension(line.cells[0]) == extension) return true;
    return first.cells.size() > 1 && line.cells.size() > 1 && line.cells[1] == first.cells[1];
  });
}

[[noreturn]] void refuse_decimal_comma(const common::TextLine& line, const std::string& label) {
  throw Error(Errc::invalid_argument, "line " + std::to_string(line.number) + " has the label " + label +
                                          ", a number with a comma: numbers need a point, " +
                                          common::with_point(label) + "; write them so");
}

// Refuses a table if some of its labels have a decimal comma, like "0,5", and all others are numbers. If the table were
// accepted, all its labels would become names of classes.
void refuse_decimal_commas(const common::ParsedLines& table) {
  const common::TextLine* first = nullptr;
  for (const common::TextLine& line : table.lines) {
    const bool comma = !common::with_point(line.cells[1]).empty();
    if (!comma && kind_of_label(line) == Kind::name) return;
    if (comma && first == nullptr) first = &line;
  }
  if (first != nullptr) refuse_decimal_comma(*first, first->cells[1]);
}

// Returns "0,5" for the line "A/1.png;0,5", whose comma seems to separate cells. Returns an empty string for other
// lines, and if the file "A/1.png;0" exists.
std::string split_number(const common::TextLine& line, const IsFile& is_file) {
  const std::size_t semicolon = line.cells[0].rfind(';');
  if (semicolon == std::string::npos || line.cells.size() < 2) return {};
  std::string number = line.cells[0].substr(semicolon + 1) + "," + line.cells[1].substr(0, line.cells[1].find(';'));
  return common::with_point(number).empty() || is_file(below_root(line)) ? std::string() : number;
}

// Refuses a table with lines whose comma is part of a number. If only the heading looks like such a line, the table is
// not refused.
void refuse_split_numbers(const common::ParsedLines& table, bool heading, const IsFile& is_file) {
  const auto is_split = [&](const common::TextLine& line) { return !split_number(line, is_file).empty(); };
  if (std::none_of(table.lines.begin() + (heading ? 1 : 0), table.lines.end(), is_split)) return;
  const auto first = std::ranges::find_if(table.lines, is_split);
  refuse_decimal_comma(*first, split_number(*first, is_file));
}

Labels from_lines(const std::vector<common::TextLine>& lines) {
  Labels labels;
  bool numbers = true;
  std::optional<Kind> first_kind;
  for (const common::TextLine& line : lines) {
    const Kind kind = kind_of_label(line);
    numbers = numbers && kind == Kind::whole;
    if (!first_kind) first_kind = kind;
    if (labels.mixed_line == 0 && (kind != *first_kind || kind == Kind::fraction)) labels.mixed_line = line.number;
  }
  if (!numbers) {
    for (const common::TextLine& line : lines) labels.classes.push_back(line.cells[1]);
    std::sort(labels.classes.begin(), labels.classes.end());
    labels.classes.erase(std::unique(labels.classes.begin(), labels.classes.end()), labels.classes.end());
  }
  std::unordered_map<std::string, std::size_t> line_of;
  for (const common::TextLine& line : lines) {
    Labels::Row row{below_root(line), 0, line.number};
    if (numbers) {
      row.label = *whole_number(line.cells[1]);
    } else {
      row.label =
          std::lower_bound(labels.classes.begin(), labels.classes.end(), line.cells[1]) - labels.classes.begin();
    }
    if (const auto [first, fresh] = line_of.emplace(row.file, line.number); !fresh)
      throw Error(Errc::invalid_argument, "lines " + std::to_string(first->second) + " and " +
                                              std::to_string(line.number) + " name the same file, \"" + row.file +
                                              "\"");
    labels.rows.push_back(std::move(row));
  }
  return labels;
}

}  // namespace

Labels read_labels(const std::string& csv_file, const IsFile& is_file) {
  try {
    common::ParsedLines table = common::read_lines(csv_file, source_name, common::CellCountRule::any);
    const bool heading = begins_with_heading(table.lines, is_file);
    if (table.separator == ',') refuse_split_numbers(table, heading, is_file);
    if (heading) table.lines.erase(table.lines.begin());
    Labels labels = from_lines(table.lines);
    if (table.separator != ',') refuse_decimal_commas(table);
    return labels;
  } catch (Error& error) {
    error.with_source(source_name).with_file(csv_file);
    throw;
  }
}

}  // namespace penstock::files
