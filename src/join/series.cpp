// SPDX-License-Identifier: Apache-2.0
#include "join/series.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "data/labels.hpp"
#include "data/one_record.hpp"
#include "order/groups.hpp"

namespace penstock::detail {

namespace {

// Returns the source's labels of a field. Returns none if the source does not know them, or if a value is too large for
// a label. In both cases, the caller reads the values from the records.
std::optional<std::vector<std::int64_t>> labels_that_fit(const SourceModel& source, const std::string& field) {
  try {
    return source.labels(field);
  } catch (const Error& error) {
    if (error.code() != Errc::limit_exceeded) throw;
    return std::nullopt;
  }
}

// Calls f(row) for each row whose value of the field differs from the value in the row before it.
template <class F>
void for_each_change(const SourceModel& source, const std::string& field, F f) {
  const Schema schema = source.schema();
  const std::size_t slot = schema.slot(field);
  const std::uint64_t size = source.size();
  if (const std::optional<std::vector<std::int64_t>> known = labels_that_fit(source, field)) {
    if (known->size() != size)
      throw Error(Errc::invalid_argument, "the source says " + std::to_string(known->size()) + " values of \"" + field +
                                              "\" for " + std::to_string(size) + " records");
    for (std::uint64_t i = 1; i < size; ++i)
      if ((*known)[i] != (*known)[i - 1]) f(i);
    return;
  }
  OneRecord record(schema);
  SampleBuilder out(record);
  const auto reader = source.open_reader();
  std::vector<std::byte> before;
  for (std::uint64_t i = 0; i < size; ++i) {
    try {
      record.clear();
      reader->read(i, out);
      const Cell& cell = record.cells[slot];
      const std::span<const std::byte> value{
          record.value(slot), static_cast<std::size_t>(cell.shape.elements()) * size_of(schema[slot].dtype)};
      if (i != 0 && !std::ranges::equal(value, before)) f(i);
      before.assign(value.begin(), value.end());
    } catch (...) {
      Error error = current_error();
      try {
        source.describe(i, error);
      } catch (...) {  // the source can't describe the record
      }
      throw error.with_index(i);
    }
  }
}

// Returns a value as a group's name. Text stays unchanged; other values become hexadecimal digits.
std::string name_of(const Field& field, std::span<const std::byte> value) {
  if (field.dtype == DType::u8 && field.shape.rank() == 1)
    return {reinterpret_cast<const char*>(value.data()), value.size()};
  constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (const std::byte byte : value) {
    name += digits[std::to_integer<unsigned>(byte) >> 4];
    name += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return name;
}

}  // namespace

Series::Series(const SourceModel& source, const WindowOptions& options)
    : length_(options.length), stride_(options.stride), rows_(source.size()), group_by_(options.group_by) {
  std::uint64_t first = 0;
  if (!group_by_.empty()) {
    try {
      for_each_change(source, group_by_, [&](std::uint64_t row) {
        add(first, row);
        first = row;
      });
    } catch (...) {
      throw current_error().with_stage("windows").with_source(source.name());
    }
  }
  if (rows_ != 0) add(first, rows_);
}

void Series::add(std::uint64_t first, std::uint64_t end) {
  ++series_;
  const std::uint64_t rows = end - first;
  if (rows < length_) {
    ++short_series_;
    short_rows_ += rows;
    return;
  }
  runs_.push_back({first, windows_});
  const std::uint64_t count = (rows - length_) / stride_ + 1;
  windows_ += count;
  tail_rows_ += rows - ((count - 1) * stride_ + length_);
}

std::uint64_t Series::first_row(std::uint64_t window) const {
  const Run& run = *std::prev(std::ranges::upper_bound(runs_, window, {}, &Run::window));
  return run.row + (window - run.window) * stride_;
}

std::uint64_t Series::windows_before(std::uint64_t row) const {
  const auto after = std::ranges::lower_bound(runs_, row, {}, &Run::row);
  if (after == runs_.begin()) return 0;
  const Run& run = *std::prev(after);
  const std::uint64_t end = after == runs_.end() ? windows_ : after->window;
  return std::min(end, run.window + (row - run.row - 1) / stride_ + 1);
}

std::uint64_t Series::hash() const {
  const std::uint64_t facts[4] = {length_, stride_, rows_, windows_};
  std::uint64_t hash = hash_bytes(facts, sizeof facts);
  for (const Run& run : runs_) hash = hash_mix(hash_mix(hash, run.row), run.window);
  return hash;
}

std::vector<Group> Series::groups(const SourceModel& source) const {
  const Schema schema = source.schema();
  const std::size_t slot = schema.slot(group_by_);
  const std::optional<std::vector<std::int64_t>> known = labels_that_fit(source, group_by_);
  std::optional<LabelReader> numbers;
  if (is_label(schema[slot]) && schema[slot].dtype != DType::u64) numbers.emplace(source, group_by_, "windows");
  OneRecord record(schema);
  SampleBuilder out(record);
  const auto reader = source.open_reader();
  std::vector<Group> groups;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::uint64_t row = runs_[i].row, end = i + 1 < runs_.size() ? runs_[i + 1].window : windows_;
    if (known || numbers) {
      append_group(groups, std::to_string(known ? (*known)[row] : (*numbers)(row)), end);
      continue;
    }
    record.clear();
    reader->read(row, out);
    const auto bytes = static_cast<std::size_t>(record.cells[slot].shape.elements()) * size_of(schema[slot].dtype);
    append_group(groups, name_of(schema[slot], {record.value(slot), bytes}), end);
  }
  return groups;
}

std::vector<std::string> Series::notes() const {
  std::string text = std::to_string(windows_) + " windows of " + std::to_string(length_) + " rows, every " +
                     std::to_string(stride_) + ", of " + std::to_string(rows_) + " rows";
  if (!group_by_.empty()) text += " in " + std::to_string(series_) + " series by " + group_by_;
  if (short_series_ != 0)
    text += "; " + std::to_string(short_series_) + " series shorter than a window have none (" +
            std::to_string(short_rows_) + " rows)";
  if (tail_rows_ != 0)
    text += "; " + std::to_string(tail_rows_) + " rows after the last window of their series are in none";
  return {text};
}

}  // namespace penstock::detail
