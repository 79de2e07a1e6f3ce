// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <penstock/error.hpp>

#include "blocks/work_stretches.hpp"

namespace penstock::detail::runtime {

/// The time that a block is in memory, from its load to its eviction.
struct Residency {
  std::uint64_t block = 0;
  std::size_t bytes = 0;
  std::byte* data = nullptr;
  std::uint64_t first_user = 0;  ///< the sample that it is loaded for
  std::uint64_t index = 0;       ///< source index of that sample's record
  bool done = false;             ///< loaded, or failed
  const void* runner = nullptr;  ///< the runner that loads it; used only to compare runners
  std::size_t field = 0;         ///< slot of the source's schema, if it goes into a batch
  bool in_batch = false;         ///< it is decoded into its rows of a batch, and takes no memory of its own
  std::optional<Error> failure;
  bool broken = false;                 ///< it failed, and there was no memory for the reason
  std::vector<std::uint64_t> waiters;  ///< samples that wait for it

  bool failed() const noexcept { return failure || broken; }
};

/// The work to do: loads, and samples whose blocks are loaded. Loads begin when the caller allows it, in the order in
/// which they were planned. One thread at a time.
class BlockQueue {
 public:
  struct Sample {
    std::uint64_t number = ~std::uint64_t{0};
    std::vector<std::shared_ptr<Residency>> blocks;  ///< blocks in its record's order
    std::uint32_t missing = 0;                       ///< blocks that it waits for
    bool planned = false;
    std::uint64_t index = 0;
    std::size_t too_large = 0;                      ///< bytes that its blocks need, if that is more than the limit
    std::vector<std::shared_ptr<Residency>> loads;  ///< loads whose first user it is; null: has begun
    std::size_t begun = 0, may_begin = 0;           ///< how many of these have begun, and may begin
    bool ready = false;                             ///< it can be made
  };
  struct Work {
    std::shared_ptr<Residency> load;      ///< block to load; null: a sample is to be made
    std::optional<std::uint64_t> sample;  ///< sample to be made
    explicit operator bool() const noexcept { return load != nullptr || sample.has_value(); }
  };

  /// `in_flight`: the most samples that are issued and not made. `threads`: present number of runners; `most`: most
  /// runners later.
  BlockQueue(std::size_t in_flight, unsigned threads, unsigned most = 0);

  /// Returns sample `number`, which is issued and not made.
  Sample& sample(std::uint64_t number) noexcept { return samples_[number % samples_.size()]; }
  const Sample& sample(std::uint64_t number) const noexcept { return samples_[number % samples_.size()]; }
  std::vector<Sample>& samples() noexcept { return samples_; }
  /// Sets up the next sample, without any needs.
  Sample& begin(std::uint64_t number) noexcept;
  /// Makes the sample use the block, and wait for it unless it is done. @throws std::bad_alloc.
  void wait_for(std::uint64_t number, Residency& block);
  /// Adds a load for the sample that was begun last, which waits for it. @throws std::bad_alloc; then it is not added.
  void add(std::shared_ptr<Residency> load);
  /// Completes a sample's needs: it can be made as soon as it waits for nothing.
  void finish(std::uint64_t number) noexcept;
  /// Reports that a block was loaded, or failed. Samples that waited only for it can be made.
  void loaded(Residency& block) noexcept;

  /// Returns the first load that may not begin yet; null: all may.
  const Residency* next_load() noexcept;
  /// Allows the load that `next_load` returns to begin.
  void let_begin() noexcept;
  bool has_work() const noexcept { return stretches_.has_work(); }
  /// Returns the next piece of work, in the stretch of samples that a runner holds or in a different one, which it then
  /// holds. The address of `held` identifies the runner.
  Work take(std::uint64_t& held) noexcept;
  /// Gives up the runner's stretch.
  void leave(std::uint64_t& held) noexcept { stretches_.leave(held); }
  /// Discards all work. The caller releases the samples' blocks before.
  void clear() noexcept;

 private:
  void is_ready(Sample& sample) noexcept;
  std::size_t blocks_loaded_by(const void* runner, std::uint64_t stretch) const noexcept;

  std::vector<Sample> samples_;  // number n is n % size
  WorkStretches stretches_;
  std::uint64_t end_ = 0;      // samples that were begun
  std::uint64_t waiting_ = 0;  // samples before this one have no load that may not begin yet
};

}  // namespace penstock::detail::runtime
