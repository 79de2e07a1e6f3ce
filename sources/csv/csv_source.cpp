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
#include "common/lines/record_text.hpp"
#include "errors.hpp"
#include "next_cell.hpp"
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
  }
  plan = csv::plan_columns(options, files, delimiters, indices);
  std::vector<const common::LineIndex*> lines;
  for (const csv::RecordIndex& index : indices) lines.push_back(&index);
  records = common::RecordFiles(csv::source_name, options.path, files, std::move(lines), options.access);
  missing = csv::missing_numbers(options);
  identify();
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
}

std::string CsvSource::Impl::key(std::uint64_t index) const {
  const common::RecordFiles::Location location = records.location_of(index);
  if (options.key.empty()) return records.location_key(location);
  common::RecordText text;
  try {
    csv::CellScanner cells(text.read(records, location), delimiters[location.file]);
    csv::Cell cell;
    for (std::size_t column = 0; csv::next_cell(cells, cell); ++column)
      if (column == plan.files[location.file].key) return cell.text();
    throw Error(Errc::corrupt,
                "the record ends before the column \"" + csv::printable(options.key) + "\", which has the keys");
  } catch (Error& error) {
    throw records.error_of(location, index, error);
  }
}

CsvSource::CsvSource(Csv options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

std::uint64_t CsvSource::size() const noexcept { return impl_->records.size(); }
Schema CsvSource::schema() const { return impl_->plan.schema; }
std::string CsvSource::file() const { return impl_->options.path; }
std::string CsvSource::key(std::uint64_t index) const { return impl_->key(index); }
std::vector<std::string> CsvSource::notes() const { return impl_->plan.notes; }
std::uint64_t CsvSource::identity() const noexcept { return impl_->identity; }
std::uint64_t CsvSource::revision() const noexcept { return impl_->records.revision(); }
std::vector<std::uint64_t> CsvSource::block_ends() const { return impl_->records.block_ends(); }

}  // namespace penstock
