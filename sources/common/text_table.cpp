#include "common/text_table.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include <penstock/extend/source.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/sources/csv.hpp>

namespace penstock::common {

namespace {

constexpr std::size_t told = 60;  // characters of a name

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

TextTable::TextTable(std::string file, std::string_view source) : file_(std::move(file)), source_(source) {
  Csv csv{.path = file_, .header = false};
  for (const Field& field : CsvSource(csv).schema())
    csv.columns.push_back({.column = field.name, .type = CsvType::text});
  const CsvSource lines_of_file(csv);
  columns.resize(csv.columns.size());
  const auto reader = lines_of_file.open_reader();
  OwnedSample sample(lines_of_file.schema());
  for (std::uint64_t line = 0; line < lines_of_file.size(); ++line) {
    SampleBuilder out = sample.builder();
    reader->read(line, out);
    if (line != 0) where.push_back(lines_of_file.key(line));
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const std::span<const std::byte> bytes = sample.sample().bytes(column);
      const std::string_view cell(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      (line == 0 ? names : columns[column]).emplace_back(trimmed(cell));
    }
  }
  for (std::size_t column = 0; column < names.size(); ++column) by_name_[names[column]].push_back(column);
}

std::size_t TextTable::find(const std::string& column) const {
  const auto found = by_name_.find(column);
  if (found != by_name_.end() && found->second.size() == 1) return found->second.front();
  if (found != by_name_.end()) throw error("two columns have the name \"" + column + "\"; give each one of its own");
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + printable(name, told);
  const std::string cause = likely_cause();
  throw error("there is no column \"" + column + "\"; the columns are " + all + (cause.empty() ? "" : "; ") + cause);
}

std::string TextTable::likely_cause() const {
  if (std::ranges::any_of(names, [](const std::string& name) { return name.find('\r') != std::string::npos; }))
    return "its lines end in CR alone: save it with LF or CRLF";
  if (names.size() == 1) {
    if (names[0].find(';') != std::string::npos)
      return "the header has one column, \"" + printable(names[0], told) +
             "\": are its cells separated by `;`? They have to be by commas";
    if (names[0].find('\t') != std::string::npos)
      return "the header has one column, \"" + printable(names[0], told) +
             "\": are its cells separated by tabs? The file's name has to end in .tsv then";
  }
  return lines() == 0 ? "it has a header, and no lines" : "";
}

Error TextTable::error(std::string why) const {
  return file_error(source_, file_, Errc::invalid_argument, std::move(why));
}

}  // namespace penstock::common
