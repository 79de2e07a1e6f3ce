// SPDX-License-Identifier: Apache-2.0
#include "ring/batch_stages.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <penstock/extend/batch_view.hpp>
#include <penstock/extend/float_mode.hpp>

#include "base/counters.hpp"
#include "base/failure.hpp"
#include "base/profiled_range.hpp"
#include "pipeline/outcome.hpp"
#include "ring/batch_ring.hpp"
#include "ring/policy.hpp"

namespace penstock::detail::runtime {

std::vector<BatchStages::Stage> BatchStages::of(const PipelineData& data, bool in_place) {
  std::vector<Stage> stages;
  for (const BoundBatchMap& map : data.after_batch.maps) stages.push_back({.map = &map});
  if (in_place)
    for (const DeviceStep& step : data.device->steps) stages.push_back({.step = &step});
  return stages;
}

std::size_t BatchStages::first_on_caller(const std::vector<Stage>& stages) noexcept {
  const auto on_caller = [](const Stage& stage) { return stage.map != nullptr && stage.map->on_caller; };
  return static_cast<std::size_t>(std::ranges::find_if(stages, on_caller) - stages.begin());
}

BatchStages::BatchStages(const PipelineData& data, const BatchLayout& layout, bool in_place, std::stop_token stop)
    : data_(data),
      layout_(layout),
      positions_(data),
      stop_(std::move(stop)),
      stages_(of(data, in_place)),
      first_on_caller_(first_on_caller(stages_)),
      counters_(stages_.size()) {}

void BatchStages::run_on_caller(BatchBuffer& buffer) noexcept {
  if (first_on_caller_ == stages_.size() || std::exchange(buffer.mapped, true)) return;
  run(buffer, first_on_caller_, stages_.size());
}

// A batch with a sample that ends the run is not delivered, so no function needs to see it.
void BatchStages::run(BatchBuffer& buffer, std::size_t first, std::size_t last) noexcept {
  if (first == last || buffer.rows == 0 || buffer.overflow || buffer.unreported ||
      std::ranges::any_of(buffer.bad, &BadSample::fatal))
    return;
  const FloatMode standard;
  for (std::size_t i = first; i < last; ++i) {
    const Stage& stage = stages_[i];
    if (stage.map != nullptr) {
      clear_added(buffer, *stage.map);
      if (std::ranges::count(std::span(buffer.mask).first(buffer.valid), 1) == 0) continue;
    }
    const ProfiledRange range(stage.label());
    if (buffer.trace != nullptr) buffer.trace->turn_to(stage.label().c_str(), buffer.number, buffer.number);
    try {
      const std::uint64_t begun = read_clocks().cpu_ns;
      stage.map != nullptr ? apply(buffer, *stage.map) : apply(buffer, *stage.step);
      counters_[i].cpu_ns.fetch_add(read_clocks().cpu_ns - begun, std::memory_order_relaxed);
      counters_[i].samples.fetch_add(buffer.valid, std::memory_order_relaxed);
    } catch (...) {
      try {
        fail(buffer, stage);
      } catch (...) {  // no memory even for the error
        buffer.broken.store(true, std::memory_order_relaxed);
        buffer.unreported = true;
      }
    }
    if (buffer.overflow || buffer.unreported) return;
  }
}

void BatchStages::apply(BatchBuffer& buffer, const BoundBatchMap& map) const {
  const MappedBatch mapped{buffer, layout_, map.stage.out, positions_, stop_, data_.seed_value(), map.stage.key};
  HostBatch batch(mapped);
  map.model->apply(batch);
}

void BatchStages::apply(BatchBuffer& buffer, const DeviceStep& step) const {
  std::vector<TensorView> fields;
  for (std::size_t field = 0; field < step.in.size(); ++field)
    fields.push_back(layout_.tensor(buffer, buffer.data, field, step.in[field]));
  const std::vector<TensorView> offsets(fields.size());
  const BatchView view{&step.in, fields, buffer.rows,
                       step.draws ? layout_.address(buffer.data, *step.draws, 0) : nullptr, offsets};
  step.model->run(view, view, StreamRef());
}

void BatchStages::clear_added(BatchBuffer& buffer, const BoundBatchMap& map) const noexcept {
  const std::size_t end = map.stage.out.size();
  for (std::size_t field = end - map.adds; field < end; ++field)
    if (const std::size_t bytes = layout_.row()[field].row_bytes * static_cast<std::size_t>(buffer.rows); bytes != 0)
      std::memset(layout_.address(buffer.data, field, 0), 0, bytes);
}

// Call inside a catch block. An error of a device stage ends the epoch under every policy, as on a device.
void BatchStages::fail(BatchBuffer& buffer, const Stage& stage) {
  const Error cause = current_error();
  Error error = error_at(
      cause, cause.code(),
      "batch " + std::to_string(buffer.number) + " of epoch " + std::to_string(buffer.epoch) + ": " + cause.cause());
  error.with_stage(stage.label());
  if (stage.map != nullptr && data_.policy_value().policy == OnError::mask && error.sample_scoped())
    return mask_rows(buffer, error);
  const auto first = std::ranges::find(buffer.replaced, 0u, &ReplacedRow::row);
  if (buffer.valid != 0) error.with_index(first != buffer.replaced.end() ? first->index : buffer.indices[0]);
  buffer.overflow = std::move(error);
}

void BatchStages::mask_rows(BatchBuffer& buffer, const Error& error) const {
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

std::vector<BatchStageCounts> BatchStages::counts() const {
  std::vector<BatchStageCounts> counts;
  for (const Counters& c : counters_)
    counts.push_back({c.samples.load(std::memory_order_relaxed), c.cpu_ns.load(std::memory_order_relaxed)});
  return counts;
}

}  // namespace penstock::detail::runtime
