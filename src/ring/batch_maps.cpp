// SPDX-License-Identifier: Apache-2.0
#include "ring/batch_maps.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <penstock/extend/float_mode.hpp>

#include "base/counters.hpp"
#include "base/failure.hpp"
#include "base/profiled_range.hpp"
#include "pipeline/outcome.hpp"
#include "ring/batch_ring.hpp"
#include "ring/policy.hpp"

namespace penstock::detail::runtime {

BatchMaps::BatchMaps(const PipelineData& data, const BatchLayout& layout, std::stop_token stop)
    : data_(data),
      layout_(layout),
      positions_(data),
      stop_(std::move(stop)),
      first_on_caller_(data.after_batch.maps.size()),
      counters_(data.after_batch.maps.size()) {
  const auto on_caller = std::ranges::find(data.after_batch.maps, true, &BoundBatchMap::on_caller);
  first_on_caller_ = static_cast<std::size_t>(on_caller - data.after_batch.maps.begin());
}

void BatchMaps::run_on_caller(BatchBuffer& buffer) noexcept {
  if (first_on_caller_ == data_.after_batch.maps.size() || std::exchange(buffer.mapped, true)) return;
  run(buffer, first_on_caller_, data_.after_batch.maps.size());
}

// A batch with a sample that ends the run is not delivered, so no function needs to see it.
void BatchMaps::run(BatchBuffer& buffer, std::size_t first, std::size_t last) noexcept {
  if (first == last || buffer.rows == 0 || buffer.overflow || buffer.unreported ||
      std::ranges::any_of(buffer.bad, &BadSample::fatal))
    return;
  const FloatMode standard;
  for (std::size_t i = first; i < last; ++i) {
    const BoundBatchMap& map = data_.after_batch.maps[i];
    clear_added(buffer, map);
    if (std::ranges::count(std::span(buffer.mask).first(buffer.valid), 1) == 0) continue;
    const ProfiledRange range(map.stage.label);
    if (buffer.trace != nullptr) buffer.trace->turn_to(map.stage.label.c_str(), buffer.number, buffer.number);
    try {
      apply(buffer, i);
    } catch (...) {
      try {
        fail(buffer, map);
      } catch (...) {  // no memory even for the error
        buffer.broken.store(true, std::memory_order_relaxed);
        buffer.unreported = true;
      }
    }
    if (buffer.overflow || buffer.unreported) return;
  }
}

void BatchMaps::apply(BatchBuffer& buffer, std::size_t number) {
  const BoundBatchMap& map = data_.after_batch.maps[number];
  const MappedBatch mapped{buffer, layout_, map.stage.out, positions_, stop_, data_.seed_value(), map.stage.key};
  HostBatch batch(mapped);
  const std::uint64_t begun = read_clocks().cpu_ns;
  map.model->apply(batch);
  counters_[number].cpu_ns.fetch_add(read_clocks().cpu_ns - begun, std::memory_order_relaxed);
  counters_[number].samples.fetch_add(buffer.valid, std::memory_order_relaxed);
}

void BatchMaps::clear_added(BatchBuffer& buffer, const BoundBatchMap& map) const noexcept {
  const std::size_t end = map.stage.out.size();
  for (std::size_t field = end - map.adds; field < end; ++field)
    if (const std::size_t bytes = layout_.row()[field].row_bytes * static_cast<std::size_t>(buffer.rows); bytes != 0)
      std::memset(layout_.address(buffer.data, field, 0), 0, bytes);
}

// Call inside a catch block.
void BatchMaps::fail(BatchBuffer& buffer, const BoundBatchMap& map) {
  const Error cause = current_error();
  Error error = error_at(
      cause, cause.code(),
      "batch " + std::to_string(buffer.number) + " of epoch " + std::to_string(buffer.epoch) + ": " + cause.cause());
  error.with_stage(map.stage.label);
  if (data_.policy_value().policy == OnError::mask && error.sample_scoped()) return mask_rows(buffer, error);
  const auto first = std::ranges::find(buffer.replaced, 0u, &ReplacedRow::row);
  buffer.overflow = error.with_index(first != buffer.replaced.end() ? first->index : buffer.indices[0]);
}

void BatchMaps::mask_rows(BatchBuffer& buffer, const Error& error) const {
  for (std::uint64_t row = 0; row < buffer.valid; ++row) {
    if (buffer.mask[row] == 0) continue;
    if (buffer.bad.size() < max_listed)
      buffer.bad.push_back({row, Error(error).with_index(buffer.indices[row]), false});
    else
      ++buffer.unlisted;
    buffer.mask[row] = 0;
  }
  for (std::uint64_t row = 0; row < buffer.valid; ++row) layout_.clear_row(buffer, buffer.data, row);
  BatchRing::lay_side_by_side(buffer, layout_);
}

std::vector<BatchMapCounts> BatchMaps::counts() const {
  std::vector<BatchMapCounts> counts;
  for (const Counters& c : counters_)
    counts.push_back({c.samples.load(std::memory_order_relaxed), c.cpu_ns.load(std::memory_order_relaxed)});
  return counts;
}

}  // namespace penstock::detail::runtime
