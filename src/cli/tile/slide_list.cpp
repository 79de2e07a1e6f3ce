// SPDX-License-Identifier: Apache-2.0
#include "tile/slide_list.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/sources/csv.hpp>
#include <penstock/sources/slide_endings.hpp>

#include "console/output.hpp"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

bool is_table(const std::string& file) {
  return has_ending(file, ".csv") || has_ending(file, ".tsv") || has_ending(file, ".tab");
}

// Returns text without surrounding spaces and tabs.
std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string column_in(const std::string& file, const std::string& wanted) {
  const Schema columns = CsvSource({.path = file, .access = FileAccess::read}).schema();
  constexpr std::array<std::string_view, 4> usual{"path", "file", "filename", "slide_path"};
  std::string names;
  for (const Field& column : columns) {
    const std::string_view name = trimmed(column.name);
    if (wanted.empty() ? std::ranges::find(usual, name) != usual.end() : name == wanted || column.name == wanted)
      return column.name;
    names += (names.empty() ? "" : ", ") + printable(in_list(column.name));
  }
  std::error_code failed;
  const std::string& first = columns[0].name;
  if (wanted.empty() && (names_slide(first) || fs::is_regular_file(fs::path(file).parent_path() / first, failed)))
    throw UsageError(
        fmt::format("{} has no header: its first line names a slide, {}; put \"path\" above it, or give "
                    "the file another ending than a table's, where it has a path a line and nothing else",
                    printable(file), printable(first)));
  if (wanted.empty()) return first;
  throw UsageError(
      fmt::format("{} has no column {}; it has {}", printable(file), printable(wanted), printable(names, 500)));
}

std::vector<std::string> cells_of(const std::string& file, const std::string& column) {
  const std::string name = column_in(file, column);
  const CsvSource table(
      {.path = file, .columns = {{.column = name, .type = CsvType::text}}, .access = FileAccess::read});
  std::vector<std::string> cells;
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    const OwnedSample line = read_sample(table, i);
    const TensorView cell = line[name];
    const std::string_view path = trimmed({reinterpret_cast<const char*>(cell.data), cell.bytes()});
    if (!path.empty()) cells.emplace_back(path);
  }
  return cells;
}

std::vector<std::string> lines_of_list(const std::string& file) {
  const std::optional<std::string> text = read_text(file, "list", std::uint64_t{1} << 30);
  if (!text) throw Error(Errc::not_found, "there is no such list of slides").with_file(file);
  std::vector<std::string> lines;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  for (std::size_t at = text->starts_with(byte_order_mark) ? byte_order_mark.size() : 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    std::string_view line = std::string_view(*text).substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = trimmed(line);
    if (!line.empty() && !line.starts_with('#')) lines.emplace_back(line);
    at = end + 1;
  }
  return lines;
}

}  // namespace

WantedSlides listed_slides(const std::string& file, const std::string& column) {
  if (!is_table(file) && !column.empty()) throw UsageError("--list-column is a column of --list, a CSV file");
  std::vector<std::string> paths = is_table(file) ? cells_of(file, column) : lines_of_list(file);
  if (paths.empty()) throw Error(Errc::not_found, "the list names no slide").with_file(file);
  const fs::path folder = fs::path(file).parent_path();
  for (std::string& path : paths)
    if (fs::path(path).is_relative()) path = (folder / path).string();
  WantedSlides slides;
  for (const std::string& path : paths) {
    // A path that does not exist, or a pattern without a match, becomes a slide that can't be read. So the other slides
    // are still used.
    try {
      const WantedSlides found = slide_files({path});
      slides.files.insert(slides.files.end(), found.files.begin(), found.files.end());
      slides.passed_over.add(found.passed_over);
    } catch (const Error& error) {
      if (error.code() != Errc::not_found) throw;
      slides.files.push_back(path);
    }
  }
  return slides;
}

}  // namespace penstock::cli
