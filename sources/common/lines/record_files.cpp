// SPDX-License-Identifier: Apache-2.0
#include "record_files.hpp"

#include <algorithm>
#include <utility>

#include <penstock/extend/store_files.hpp>

#include "common/file_errors.hpp"

namespace penstock::common {

RecordFiles::RecordFiles(std::string_view source, std::string path, std::vector<std::string> files,
                         std::vector<const LineIndex*> indices, FileAccess access)
    : source_(source), path_(std::move(path)), files_(std::move(files)), indices_(std::move(indices)) {
  for (const LineIndex* const index : indices_) first_.push_back(first_.back() + index->begins.size());
  if (access == FileAccess::map)
    for (std::size_t f = 0; f < files_.size(); ++f) maps_.emplace_back(files_[f], indices_[f]->mark, source_);
  for (const std::string& file : files_) names_.push_back(file.substr(file.rfind('/') + 1));
  std::vector<std::string> sorted = names_;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) names_ = files_;
  for (const std::string& file : files_) revision_ = revision_ * 0x9e3779b97f4a7c15 + file_revision(file);
}

RecordFiles::Location RecordFiles::location_of(std::uint64_t index) const {
  if (index >= size())
    throw FileError{source_}(path_, Errc::not_found, "there are " + std::to_string(size()) + " records")
        .with_index(index);
  if (files_.size() == 1) return {0, index};
  const auto after = std::upper_bound(first_.begin(), first_.end(), index);
  const auto file = static_cast<std::size_t>(after - first_.begin()) - 1;
  return {file, index - first_[file]};
}

std::string RecordFiles::location_key(Location location) const {
  constexpr std::size_t fewest = 8;  // at least this many digits, so that keys don't change when lines are added
  const LineIndex& index = *indices_[location.file];
  const std::string line = std::to_string(index.line(location.record));
  const std::size_t digits = std::max(fewest, std::to_string(index.line(index.begins.size() - 1)).size());
  return names_[location.file] + ":" + std::string(digits - line.size(), '0') + line;
}

Error RecordFiles::error_of(Location location, std::uint64_t index, const Error& error) const {
  const LineIndex& of_file = *indices_[location.file];
  const std::string line = std::to_string(of_file.line(location.record));
  Error full(error.code(), "line " + line + ": " + error.cause());
  full.with_source(source_).with_file(files_[location.file]).with_key(names_[location.file] + ":" + line);
  return full.with_index(index).with_offset(of_file.begins[location.record] + error.offset().value_or(0));
}

std::vector<std::uint64_t> RecordFiles::block_ends() const {
  if (files_.size() == 1) return {};
  return {first_.begin() + 1, first_.end()};
}

void RecordFiles::expect(std::span<const std::uint64_t> indices) const noexcept {
  constexpr std::uint64_t line_bytes = 64,
                          max_bytes = 4 * line_bytes;  // the processor prefetches the rest of a longer record itself
  if (maps_.empty()) return;
  for (const std::uint64_t index : indices)
    if (index < size()) {
      const Location location = location_of(index);
      indices_[location.file]->begins.prefetch(location.record);
    }
  for (const std::uint64_t index : indices)
    if (index < size()) {
      const Location location = location_of(index);
      const LineIndex& of_file = *indices_[location.file];
      const char* const text = maps_[location.file].text().data() + of_file.begins[location.record];
      const std::uint64_t bytes = std::min<std::uint64_t>(of_file.bytes(location.record), max_bytes);
      for (std::uint64_t at = 0; at < bytes; at += line_bytes) __builtin_prefetch(text + at);
    }
}

}  // namespace penstock::common
