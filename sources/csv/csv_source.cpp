// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/csv.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/store_files.hpp>

#include "cell_scanner.hpp"
#include "errors.hpp"
#include "record_text.hpp"
#include "source_impl.hpp"

namespace penstock {

namespace {

char delimiter_of(const std::string& file, char wanted) {
  if (wanted != 0) return wanted;
  return has_ending(file, ".tsv") || has_ending(file, ".tab") ? '\t' : '\0';
}

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed + text.size());
}

}  // namespace

CsvSource::Impl::Impl(Csv csv_options) : options(std::move(csv_options)) {
  const char d = options.delimiter;
  if (d == '"' || d == '\n' || d == '\r')
    throw csv::error_in(options.path, Errc::invalid_argument, "a quote or a line's end can't be the delimiter");
  files = files_of_pattern(options.path, csv::source_name);
  for (const std::string& file : files) {
    indices.push_back(csv::index_records(file, delimiter_of(file, d), options.header, options.max_record_bytes));
    delimiters.push_back(indices.back().delimiter);
    if (indices.back().columns.empty())
      throw csv::error_in(file, Errc::corrupt, "the file is empty: there is no line that says how many columns it has");
    first.push_back(first.back() + indices.back().begins.size());
  }
  plan = csv::plan_columns(options, files, delimiters, indices);
  if (options.access == FileAccess::map)
    for (std::size_t f = 0; f < files.size(); ++f) maps.emplace_back(files[f], indices[f].mark);
  missing = csv::missing_numbers(options);
  name_files();
  identify();
}

void CsvSource::Impl::name_files() {
  for (const std::string& file : files) names.push_back(file.substr(file.rfind('/') + 1));
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) names = files;
}

void CsvSource::Impl::identify() {
  std::uint64_t hash = files.size() * 2 + (options.header ? 1 : 0);
  for (std::size_t f = 0; f < files.size(); ++f) {
    hash = hash_text({&delimiters[f], 1}, hash + indices[f].hash);
    for (const csv::Target& target : plan.files[f].targets) {
      const std::uint64_t facts[4] = {target.column, target.slot, target.element,
                                      static_cast<std::uint64_t>(target.kind)};
      hash = XXH3_64bits_withSeed(facts, sizeof facts, hash);
    }
  }
  for (const common::ClassWords& words : plan.words)
    for (const std::string& name : words.classes()) hash = hash_text(name, hash + 3);
  for (const std::string& cell : options.missing_cells) hash = hash_text(cell, hash);
  if (!options.key.empty()) hash = hash_text(options.key, hash + 2);
  if (options.missing_value) hash = XXH3_64bits_withSeed(&*options.missing_value, sizeof(double), hash + 1);
  identity = hash;
  for (const std::string& file : files) revision = revision * 0x9e3779b97f4a7c15 + file_revision(file);
}

CsvSource::Impl::Location CsvSource::Impl::location_of(std::uint64_t index) const {
  if (index >= size())
    throw csv::error_in(options.path, Errc::not_found, "there are " + std::to_string(size()) + " records")
        .with_index(index);
  if (files.size() == 1) return {0, index};
  const auto after = std::upper_bound(first.begin(), first.end(), index);
  const auto file = static_cast<std::size_t>(after - first.begin()) - 1;
  return {file, index - first[file]};
}

std::string CsvSource::Impl::location_name(Location location) const {
  return names[location.file] + ":" + std::to_string(indices[location.file].line(location.record));
}

// All line numbers of a file have equally many digits, so that the keys are in the order of the records.
std::string CsvSource::Impl::location_key(Location location) const {
  constexpr std::size_t fewest = 8;  // at least this many digits, so that keys don't change when lines are added
  const csv::RecordIndex& index = indices[location.file];
  const std::string line = std::to_string(index.line(location.record));
  const std::size_t digits = std::max(fewest, std::to_string(index.line(index.begins.size() - 1)).size());
  return names[location.file] + ":" + std::string(digits - line.size(), '0') + line;
}

std::string CsvSource::Impl::key(std::uint64_t index) const {
  const Location location = location_of(index);
  if (options.key.empty()) return location_key(location);
  RecordText text;
  try {
    csv::CellScanner cells(text.read(*this, location), delimiters[location.file]);
    csv::Cell cell;
    for (std::size_t column = 0; csv::next_cell(cells, cell); ++column)
      if (column == plan.files[location.file].key) return cell.text();
    throw Error(Errc::corrupt,
                "the record ends before the column \"" + csv::printable(options.key) + "\", which has the keys");
  } catch (Error& error) {
    throw error_of(location, index, error);
  }
}

Error CsvSource::Impl::error_of(Location location, std::uint64_t index, const Error& error) const {
  const csv::RecordIndex& of_file = indices[location.file];
  Error full(error.code(), "line " + std::to_string(of_file.line(location.record)) + ": " + error.cause());
  full.with_source("csv").with_file(files[location.file]).with_key(location_name(location)).with_index(index);
  return full.with_offset(of_file.begins[location.record] + error.offset().value_or(0));
}

CsvSource::CsvSource(Csv options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

std::uint64_t CsvSource::size() const noexcept { return impl_->size(); }
Schema CsvSource::schema() const { return impl_->plan.schema; }
std::string CsvSource::file() const { return impl_->options.path; }
std::string CsvSource::key(std::uint64_t index) const { return impl_->key(index); }
std::vector<std::string> CsvSource::notes() const { return impl_->plan.notes; }
std::uint64_t CsvSource::identity() const noexcept { return impl_->identity; }
std::uint64_t CsvSource::revision() const noexcept { return impl_->revision; }
std::vector<std::uint64_t> CsvSource::block_ends() const {
  if (impl_->files.size() == 1) return {};
  return {impl_->first.begin() + 1, impl_->first.end()};
}

}  // namespace penstock
