// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/order.hpp>

#include "base/hash.hpp"

namespace penstock::detail {

/// An order that visits runs of consecutive records. Memory: 16 bytes per run.
class Runs {
 public:
  /// Adds a run. REQUIRES: runs ascend, and all runs are added before the order is used.
  void add(std::uint64_t first, std::uint64_t records) {
    if (records == 0) return;
    if (runs_->empty() || end_ != first) runs_->push_back({first, records_});
    records_ += records;
    end_ = first + records;
  }
  std::uint64_t records() const noexcept { return records_; }

  std::uint64_t size(std::uint64_t) const noexcept { return records_; }
  void fill(std::uint64_t, std::uint64_t, std::span<OrderPoint> points) const {
    for (OrderPoint& point : points) {
      const Run& run = run_of(point.position);
      point.position = run.first + (point.position - run.before);
    }
  }
  std::uint64_t run_length(std::uint64_t, std::uint64_t position) const {
    const Run* const next = &run_of(position) + 1;
    return (next == runs_->data() + runs_->size() ? records_ : next->before) - position;
  }
  bool fixed() const noexcept { return true; }
  std::string name() const { return "split"; }
  std::string describe() const {
    return std::to_string(records_) + " records in " + std::to_string(runs_->size()) + " runs, hash " +
           std::to_string(hash_bytes(runs_->data(), runs_->size() * sizeof(Run)));
  }

 private:
  struct Run {
    std::uint64_t first;   ///< first record of the run
    std::uint64_t before;  ///< number of records in the runs before this run
  };
  const Run& run_of(std::uint64_t position) const {
    return *(std::ranges::upper_bound(*runs_, position, {}, &Run::before) - 1);
  }

  // Copies of this order, which pipelines make, share the runs.
  std::shared_ptr<std::vector<Run>> runs_ = std::make_shared<std::vector<Run>>();
  std::uint64_t records_ = 0, end_ = 0;
};

}  // namespace penstock::detail
