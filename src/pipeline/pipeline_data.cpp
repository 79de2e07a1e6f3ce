#include "pipeline/pipeline_data.hpp"

#include <algorithm>
#include <array>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/extend/stream_source.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "pipeline/shard.hpp"

namespace penstock::detail {

std::uint64_t PipelineData::steps() const noexcept {
  if (!batch || reordered()) return 0;
  if (fixed_steps() != 0) return fixed_steps();
  return batch->options.tail == Tail::drop ? size / batch->rows : size / batch->rows + (size % batch->rows != 0);
}

std::uint64_t PipelineData::most_rows() const noexcept { return balanced_part(batch->rows, shard_value()).count; }

std::uint64_t PipelineData::window_rows() const noexcept {
  if (!bucket) return 0;
  const std::uint64_t window = bucket->options.window;
  return bounded ? window : window / batch->rows * most_rows();
}

std::uint64_t PipelineData::global_valid(std::uint64_t number) const noexcept {
  return fixed_steps() != 0 ? batch->rows : std::min(batch->rows, size - number * batch->rows);
}

// Padding stands after the end of the batch of all ranks, so that their parts, one after the other, are that batch.
RankRows PipelineData::rank_rows(const Cursor& at) const noexcept {
  const std::uint64_t valid = global_valid(at.number);
  const bool pads = batch->options.tail == Tail::pad;
  const RowRange part = balanced_part(pads ? batch->rows : valid, shard_value());
  return {at.position + part.first, std::min(part.count, valid - std::min(valid, part.first)), part.count};
}

Cursor PipelineData::next_batch(const Cursor& at) const noexcept {
  const std::uint64_t after = at.position + batch->rows;
  if (at.number + 1 == steps()) return {at.epoch + 1, 0, fixed_steps() != 0 ? after : 0, 0};
  return {at.epoch, at.number + 1, after, 0};
}

Place PipelineData::place_at(std::uint64_t epoch, std::uint64_t position) const noexcept {
  return fixed_steps() != 0 ? Place{position / size, position % size, 0, 0} : Place{epoch, position, 0, 0};
}

void PipelineData::fill_batch(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out) const {
  while (!out.empty()) {
    const Place at = place_at(epoch, first);
    const std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size - at.position));
    fill(at.epoch, at.position, out.first(some));
    out = out.subspan(some);
    first += some;
  }
}

void PipelineData::resolve(std::span<OrderPoint> points) const {
  for (std::size_t i = orders.size(); i-- > 0;) {
    const BoundOrder& order = orders[i];
    try {
      order.model->fill(hash_mix(seed_value(), order.key), order.input_size, points);
    } catch (...) {
      throw current_error().with_stage(order.label);
    }
    // What lies outside would be read as foreign memory by a source that trusts its caller.
    for (const OrderPoint& point : points)
      if (point.position >= order.input_size) [[unlikely]]
        throw Error(Errc::invalid_argument, "the order gave position " + std::to_string(point.position) + " of " +
                                                std::to_string(order.input_size) +
                                                "; its `fill` must give positions below the size it is told")
            .with_stage(order.label);
  }
}

void PipelineData::fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out,
                        std::uint64_t stride) const {
  if (orders.empty()) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = first + i * stride;
    return;
  }
  std::array<OrderPoint, 256> points;
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t n = std::min(points.size(), out.size() - done);
    for (std::size_t i = 0; i < n; ++i) points[i] = {epoch, first + (done + i) * stride};
    resolve({points.data(), n});
    for (std::size_t i = 0; i < n; ++i) out[done + i] = points[i].position;
    done += n;
  }
}

std::uint64_t PipelineData::replacement(const Place& place) const {
  static constexpr std::uint64_t key = 0x7265706c616365;  // "replace": no stage's key, which are hashes
  Rng rng(seed_value(), key, place);
  OrderPoint point{place.epoch, rng.below(size)};
  resolve({&point, 1});
  return point.position;
}

}  // namespace penstock::detail
