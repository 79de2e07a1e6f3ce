// SPDX-License-Identifier: Apache-2.0
#include <penstock/extend/host_batch.hpp>

#include <string>

#include <penstock/error.hpp>

#include "ring/batch_ring.hpp"
#include "ring/batch_stages.hpp"

namespace penstock {

namespace detail::runtime {

Place MappedBatch::place(std::uint64_t row) const noexcept {
  return buffer.draw_places.empty() ? positions.place(buffer.epoch, buffer.first + row) : buffer.draw_places[row];
}

}  // namespace detail::runtime

std::uint64_t HostBatch::rows() const noexcept { return batch_->buffer.rows; }
const Schema& HostBatch::schema() const noexcept { return batch_->schema; }

TensorView HostBatch::operator[](std::string_view field) const {
  const std::size_t slot = batch_->schema.slot(field);
  return batch_->layout.tensor(batch_->buffer, batch_->buffer.data, slot, batch_->schema[slot]);
}

RaggedRows HostBatch::ragged(std::string_view field) const {
  const std::size_t slot = batch_->schema.slot(field);
  return batch_->layout.ragged(batch_->buffer, slot, batch_->schema[slot]);
}

std::span<const std::int64_t> HostBatch::lengths(std::string_view field) const {
  const std::size_t slot = batch_->schema.slot(field);
  return batch_->layout.lengths(batch_->buffer, slot, batch_->schema[slot]);
}

std::span<const std::uint8_t> HostBatch::mask() const noexcept {
  return {batch_->buffer.mask.data(), static_cast<std::size_t>(batch_->buffer.rows)};
}
std::uint64_t HostBatch::epoch() const noexcept { return batch_->buffer.epoch; }
std::uint64_t HostBatch::number() const noexcept { return batch_->buffer.number; }

Place HostBatch::place(std::uint64_t row) const {
  if (row >= batch_->buffer.valid)
    throw Error(Errc::invalid_argument, "row " + std::to_string(row) + " is no sample: the batch has " +
                                            std::to_string(batch_->buffer.valid) +
                                            ", and only these have a place; ask valid(row) first");
  return batch_->place(row);
}

Rng HostBatch::rng() const {
  Place place = batch_->place(0);
  place.attempt = ~std::uint32_t{0};  // no row has this attempt
  return {batch_->seed, batch_->key, place};
}
Rng HostBatch::rng(std::uint64_t row) const { return {batch_->seed, batch_->key, place(row)}; }

bool HostBatch::stop_requested() const noexcept { return batch_->stop.stop_requested(); }

}  // namespace penstock
