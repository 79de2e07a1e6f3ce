// SPDX-License-Identifier: Apache-2.0
#include "order/sample_order.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/float_mode.hpp>
#include <penstock/extend/rng.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"

namespace penstock::detail {

// Replaces each position in the result of the last order by the index of its record in the source.
void SampleOrder::resolve(std::span<OrderPoint> points) const {
  const FloatMode standard;
  for (std::size_t i = orders_.size(); i-- > 0;) {
    const BoundOrder& order = orders_[i];
    try {
      order.model->fill(hash_mix(seed_, order.key), order.input_size, points);
    } catch (...) {
      throw current_error().with_stage(order.label);
    }
    // A source that trusts its caller would read foreign memory at a position beyond its size.
    for (const OrderPoint& point : points)
      if (point.position >= order.input_size) [[unlikely]]
        throw Error(Errc::invalid_argument, "the order gave position " + std::to_string(point.position) + " of " +
                                                std::to_string(order.input_size) +
                                                "; its `fill` must give positions below the size it is told")
            .with_stage(order.label);
  }
}

void SampleOrder::fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out,
                       std::uint64_t stride) const {
  if (orders_.empty()) {
    for (std::uint64_t& index : out) index = std::exchange(first, first + stride);
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

std::uint64_t SampleOrder::at(std::uint64_t epoch, std::uint64_t position) const {
  OrderPoint point{epoch, position};
  resolve({&point, 1});
  return point.position;
}

std::uint64_t SampleOrder::run_length(std::uint64_t position) const {
  const FloatMode standard;
  std::uint64_t length = size_ - position;
  OrderPoint point{0, position};
  for (std::size_t i = orders_.size(); i-- > 0;) {
    const BoundOrder& order = orders_[i];
    length = std::min(length, order.model->run_length(order.input_size, point.position));
    if (length <= 1) return 1;
    order.model->fill(hash_mix(seed_, order.key), order.input_size, {&point, 1});
  }
  return length;
}

std::uint64_t SampleOrder::replacement(const Place& place) const {
  static constexpr std::uint64_t key =
      0x7265706c616365;  // "replace" in ASCII; stages' keys are hashes, and unlikely to be this
  Rng rng(seed_, key, place);
  OrderPoint point{place.epoch, rng.below(size_)};
  resolve({&point, 1});
  return point.position;
}

}  // namespace penstock::detail
