// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <penstock/extend/order.hpp>
#include <penstock/state.hpp>

namespace penstock::detail {

/// An order that is part of a pipeline.
struct BoundOrder {
  std::shared_ptr<const OrderModel> model;
  std::string label;
  std::uint64_t key = 0;
  std::uint64_t input_size = 0;
};

/// Finds which record of the source is at each of the `size` positions of a pipeline. Any thread may use it; `orders`
/// must outlive this object.
class SampleOrder {
 public:
  SampleOrder(std::span<const BoundOrder> orders, std::uint64_t seed, std::uint64_t size) noexcept
      : orders_(orders), seed_(seed), size_(size) {}

  /// Writes to `out` the indices of the records at the positions first, first + stride, … of an epoch. @throws what
  /// orders throw.
  void fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out, std::uint64_t stride = 1) const;
  /// Returns the index of the record at one position. @throws what orders throw.
  std::uint64_t at(std::uint64_t epoch, std::uint64_t position) const;
  /// Returns a number, at least 1. In every epoch, that many positions from `position` on have consecutive records.
  std::uint64_t run_length(std::uint64_t position) const;
  /// Returns the index of the record from which a stand-in is made. Draws it uniformly from all positions of the epoch.
  /// `place`: key of the draw.
  std::uint64_t replacement(const Place& place) const;

 private:
  void resolve(std::span<OrderPoint> points) const;

  std::span<const BoundOrder> orders_;
  std::uint64_t seed_, size_;
};

}  // namespace penstock::detail
