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
  const std::byte* data = nullptr;
  std::shared_ptr<const std::byte> lent = nullptr;  ///< holds `data`, if it is memory of the source
  std::uint64_t first_user = 0;                     ///< the sample for which the block is loaded
  std::uint64_t index = 0;                          ///< source index of that sample's record
  bool done = false;                                ///< the block was loaded, or loading failed
  const void* runner = nullptr;                     ///< the runner that loads the block; used only to compare runners
  std::size_t field = 0;                            ///< slot of the source's schema, if the block goes into a batch
  bool announced = false;                           ///< the load ends an announcement to the source
  bool in_batch = false;  ///< the block is decoded into its rows of a batch and needs no memory of its own
  std::optional<Error> failure;
  bool broken = false;                 ///< loading failed, and there was no memory for the error
  std::vector<std::uint64_t> waiters;  ///< samples that wait for the block

  bool failed() const noexcept { return failure || broken; }
};

/// The work to do: loading blocks, and making samples whose blocks are loaded. The caller allows loads in the order in
/// which they were planned; no load begins before it is allowed. One thread at a time may use the queue.
class BlockQueue {
 public:
  struct QueuedSample {
    std::uint64_t number = ~std::uint64_t{0};
    std::vector<std::shared_ptr<Residency>> blocks;  ///< blocks in the record's order
    std::uint32_t missing = 0;                       ///< number of blocks for which the sample waits
    bool planned = false;
    std::uint64_t index = 0;
    std::size_t too_large = 0;  ///< 0, or the bytes of the blocks that the sample needs, if they exceed the limit
    /// Loads of the blocks whose first user is this sample. An element becomes null when its load begins.
    std::vector<std::shared_ptr<Residency>> loads;
    std::size_t begun = 0, may_begin = 0;  ///< how many of `loads` have begun, and how many may begin
    bool ready = false;                    ///< the sample can be made, and no runner has taken it
  };
  struct Work {
    std::shared_ptr<Residency> load;      ///< block to load; null: `sample` is the work, or there is no work
    std::optional<std::uint64_t> sample;  ///< sample to be made
    explicit operator bool() const noexcept { return load != nullptr || sample.has_value(); }
  };

  /// `in_flight`: the most samples that are issued and not made. `threads`: present number of runners. `most`: the
  /// largest number of runners that the run may use; 0: `threads`.
  BlockQueue(std::size_t in_flight, unsigned threads, unsigned most = 0);

  /// Returns sample `number`. REQUIRES: the sample is issued and not made.
  QueuedSample& sample(std::uint64_t number) noexcept { return samples_[number % samples_.size()]; }
  const QueuedSample& sample(std::uint64_t number) const noexcept { return samples_[number % samples_.size()]; }
  std::vector<QueuedSample>& samples() noexcept { return samples_; }
  /// Begins sample `number`, the next one. The sample waits for no block yet.
  QueuedSample& begin(std::uint64_t number) noexcept;
  /// Makes the sample wait for the block, unless the block is done. @throws std::bad_alloc.
  void wait_for(std::uint64_t number, Residency& block);
  /// Adds a load for the sample that was begun last. The caller must then make the sample wait for the load, with
  /// `wait_for`. @throws std::bad_alloc, and adds nothing in this case.
  void add(std::shared_ptr<Residency> load);
  /// Call after the last `wait_for` of a sample. From then on the sample can be made as soon as it waits for no block.
  void finish(std::uint64_t number) noexcept;
  /// Call after a block was loaded, or loading failed. Samples that waited only for this block can be made from then
  /// on.
  void loaded(Residency& block) noexcept;

  /// Returns the first load that may not begin yet; null: all loads may begin.
  const Residency* next_load() noexcept;
  /// Allows the load that `next_load` returns to begin.
  void let_begin() noexcept;
  bool has_work() const noexcept { return stretches_.has_work(); }
  /// Returns a runner's next piece of work. Takes the work from the stretch of samples that the runner holds. If that
  /// stretch has no work, takes the work from a different stretch. `held`: see WorkStretches::choose. The address of
  /// `held` identifies the runner.
  Work take(std::uint64_t& held) noexcept;
  /// Gives up the runner's stretch.
  void leave(std::uint64_t& held) noexcept { stretches_.leave(held); }
  /// Discards all work. The caller must release the samples' blocks first.
  void clear() noexcept;

 private:
  void is_ready(QueuedSample& sample) noexcept;
  std::size_t blocks_loaded_by(const void* runner, std::uint64_t stretch) const noexcept;

  std::vector<QueuedSample> samples_;  // sample n is element n % size
  WorkStretches stretches_;
  std::uint64_t end_ = 0;      // the number after that of the sample begun last
  std::uint64_t waiting_ = 0;  // all loads of the samples before this number may begin
};

}  // namespace penstock::detail::runtime
