#pragma once

#include <cstdint>
#include <span>

#include <penstock/state.hpp>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Which record of the source stands at each position of a pipeline. Any thread; the data must outlive it.
class SampleOrder {
 public:
  explicit SampleOrder(const PipelineData& data) noexcept : data_(&data) {}

  /// Indices of the positions first, first + stride, … of an epoch. @throws what orders do.
  void fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out, std::uint64_t stride = 1) const;
  /// So many positions from `position` on, in any epoch, have records that follow each other; at least 1.
  std::uint64_t run_length(std::uint64_t position) const;
  /// The index that stands in for a bad sample: a uniform draw among all positions of the epoch.
  std::uint64_t replacement(const Place& place) const;

 private:
  void resolve(std::span<OrderPoint> points) const;

  const PipelineData* data_;
};

}  // namespace penstock::detail
