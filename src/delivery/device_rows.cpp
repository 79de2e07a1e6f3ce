// SPDX-License-Identifier: Apache-2.0
#include "delivery/device_rows.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <penstock/error.hpp>

namespace penstock::detail::runtime {

namespace {

constexpr std::size_t rows_alignment = BatchLayout::field_alignment;

std::size_t aligned_rows(std::uint64_t bytes) {
  return (static_cast<std::size_t>(bytes) + rows_alignment - 1) / rows_alignment * rows_alignment;
}

std::uint64_t bytes_of(const RaggedRow& row, const RowField& field) { return row.shape.elements() * field.element; }

}  // namespace

DeviceRows::DeviceRows(DeviceRing& ring, std::size_t number, const BatchLayout& whole, std::size_t buffers,
                       std::size_t limit, const char* option)
    : ring_(ring),
      device_(ring.device(number)),
      number_(number),
      whole_(whole),
      limit_(limit),
      option_(option),
      staging_memory_(ring.devices()[number]),
      staging_(buffers) {
  for (std::size_t f = 0; f < whole_.fields(); ++f)
    if (whole_.row()[f].appended()) sections_.push_back({.field = f});
}

DeviceRows::~DeviceRows() {
  for (const Staging& staging : staging_)
    if (staging.data != nullptr) staging_memory_.deallocate(staging.data, staging.bytes, rows_alignment);
}

void DeviceRows::pack(const BatchInfo& from, std::size_t buffer, DevicePart& part, BatchInfo& to) {
  const std::uint64_t rows = to.rows;
  const std::size_t bytes = lay_out(from, part, rows);
  if (bytes > limit_)
    throw Error(Errc::out_of_memory, "the rows of the batch need " + std::to_string(bytes) + " bytes, and " +
                                         std::to_string(limit_) +
                                         " are left for fields of any size in each batch; raise `" + option_ +
                                         "`, or lower `device_depth`, `depth` or the batch size")
        .with_stage("batch");
  Staging& staging = staging_[buffer];
  make_room(bytes, staging, part);
  device_.host_writes(staging.data, bytes);
  write(from, rows, staging.data, part, to);
  packed_ = bytes;
}

std::size_t DeviceRows::enqueue(std::size_t buffer, const DevicePart& part, StreamRef copies) const {
  if (packed_ != 0) device_.copy(part.rows, staging_[buffer].data, packed_, copies);
  return packed_;
}

// Decides where each field is in the packed memory. Returns the size of the packed memory. A ragged field has its table
// of [N + 1] elements, followed by its rows. A field that is padded to its longest row has its padded rows.
std::size_t DeviceRows::lay_out(const BatchInfo& from, const DevicePart& part, std::uint64_t rows) {
  std::size_t at = 0;
  for (Section& section : sections_) {
    const RowField& field = whole_.row()[section.field];
    section.table = at;
    if (field.kind == RowField::Kind::ragged) {
      at += aligned_rows((rows + 1) * sizeof(std::int64_t));
      section.bytes = 0;
      const auto all = whole_.varying_rows(from, section.field).subspan(part.first, rows);
      for (const RaggedRow& row : all) section.bytes += bytes_of(row, field);
    } else {
      section.bytes = rows * static_cast<std::uint64_t>(whole_.padded(from, section.field).longest) * field.unit;
    }
    section.data = at;
    at += aligned_rows(section.bytes);
  }
  return at;
}

// Makes the pinned memory and the part's memory on the device large enough for the rows. Before freeing memory on the
// device, waits for the work of the part's last users. Also waits for the last work that wrote to the part, because the
// caller may not have taken that batch.
void DeviceRows::make_room(std::size_t bytes, Staging& staging, DevicePart& part) {
  const auto room_for = [&](std::size_t had) { return std::min(limit_, aligned_rows(std::max(bytes, had + had / 4))); };
  if (part.rows_bytes < bytes) {
    if (part.written) device_.synchronize(*part.ready);
    for (std::size_t i = 0; i < part.users; ++i) device_.synchronize(*part.released[i]);
    if (part.rows != nullptr) ring_.memory(number_).deallocate(part.rows, part.rows_bytes, rows_alignment);
    const std::size_t room = room_for(std::exchange(part.rows_bytes, 0));
    part.rows = nullptr;
    part.rows = static_cast<std::byte*>(ring_.memory(number_).allocate(room, rows_alignment));
    part.rows_bytes = room;
    if (room > largest_.load(std::memory_order_relaxed)) largest_.store(room, std::memory_order_relaxed);
  }
  if (staging.bytes < bytes) {
    if (staging.data != nullptr) staging_memory_.deallocate(staging.data, staging.bytes, rows_alignment);
    const std::size_t room = room_for(std::exchange(staging.bytes, 0));
    staging.data = nullptr;
    staging.data = static_cast<std::byte*>(staging_memory_.allocate(room, rows_alignment));
    staging.bytes = room;
    staged_.store(std::max(room, staged_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  }
}

void DeviceRows::write(const BatchInfo& from, std::uint64_t rows, std::byte* staging, DevicePart& part,
                       BatchInfo& to) const {
  const BatchLayout& layout = ring_.made_layout();
  part.tables.clear();
  for (const Section& section : sections_) {
    const RowField& field = whole_.row()[section.field];
    std::byte* out = staging + section.data;
    if (field.kind == RowField::Kind::longest) {
      const PaddedToLongest padded = whole_.padded(from, section.field);
      const std::size_t row = static_cast<std::size_t>(padded.longest) * field.unit;
      if (section.bytes != 0) std::memcpy(out, padded.data + part.first * row, static_cast<std::size_t>(section.bytes));
      to.padded[field.varying] = {part.rows + section.data, padded.longest};
      continue;
    }
    const auto all = whole_.varying_rows(from, section.field).subspan(part.first, rows);
    auto* const table = reinterpret_cast<std::int64_t*>(staging + section.table);
    std::int64_t elements = 0;
    for (std::uint64_t r = 0; r < rows; ++r) {
      const RaggedRow row = all[r];
      const std::size_t bytes = static_cast<std::size_t>(bytes_of(row, field));
      if (bytes != 0) std::memcpy(out, row.data, bytes);
      table[r] = elements;
      elements += static_cast<std::int64_t>(row.shape.elements());
      to.varying[field.varying * layout.rows() + r] = {part.rows + section.data + (out - (staging + section.data)),
                                                       row.shape};
      out += bytes;
    }
    table[rows] = elements;
    part.tables.push_back({section.field, part.rows + section.table, part.rows + section.data, elements,
                           staging + section.table, staging + section.data});
  }
}

}  // namespace penstock::detail::runtime
