#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <penstock/error.hpp>

#include "blocks/work_stretches.hpp"

namespace penstock::detail::runtime {

/// One stay of a block in memory.
struct Residency {
  std::uint64_t block = 0;
  std::size_t bytes = 0;
  std::byte* data = nullptr;
  std::uint64_t first_user = 0;  ///< the sample it is loaded for
  std::uint64_t index = 0;       ///< source index of that sample's record
  bool done = false;             ///< loaded, or failed
  const void* runner = nullptr;  ///< runner that loads it: says no more than whether it is the same
  std::size_t field = 0;         ///< slot of the source's schema, where it goes into a batch
  bool in_batch = false;         ///< it is decoded into its rows of a batch, and takes no memory of its own
  std::optional<Error> failure;
  bool broken = false;                 ///< it failed, and there was no memory to say why
  std::vector<std::uint64_t> waiters;  ///< samples that wait for it

  bool failed() const noexcept { return failure || broken; }
};

/// What there is to do: loads, which begin as the caller says that they may, in the order in which they were planned,
/// and samples whose blocks are there. One thread at a time.
class BlockQueue {
 public:
  struct Sample {
    std::uint64_t number = ~std::uint64_t{0};
    std::vector<std::shared_ptr<Residency>> blocks;  ///< blocks in its record's order
    std::uint32_t missing = 0;                       ///< blocks that it waits for
    bool planned = false;
    std::uint64_t index = 0;
    std::size_t too_large = 0;                      ///< bytes that its blocks need, where that is more than there is
    std::vector<std::shared_ptr<Residency>> loads;  ///< for which it is the first user; null: has begun
    std::size_t begun = 0, may_begin = 0;           ///< how many of these
    bool ready = false;                             ///< it can be made
  };
  struct Work {
    std::shared_ptr<Residency> load;      ///< block to be loaded; null: a sample is to be made
    std::optional<std::uint64_t> sample;  ///< sample to be made
    explicit operator bool() const noexcept { return load != nullptr || sample.has_value(); }
  };

  /// `in_flight`: the most samples that are issued and not made; `threads`: runners, of which there may be `most`
  /// later.
  BlockQueue(std::size_t in_flight, unsigned threads, unsigned most = 0);

  /// Number n, which is issued and not made.
  Sample& sample(std::uint64_t number) noexcept { return samples_[number % samples_.size()]; }
  const Sample& sample(std::uint64_t number) const noexcept { return samples_[number % samples_.size()]; }
  std::vector<Sample>& samples() noexcept { return samples_; }
  /// Sets up the next sample, as one that needs nothing.
  Sample& begin(std::uint64_t number) noexcept;
  /// A sample uses a block, and waits for it where it is not done. @throws std::bad_alloc.
  void wait_for(std::uint64_t number, Residency& block);
  /// A block is to be loaded for the sample that was begun last, which waits for it. @throws std::bad_alloc: it is not.
  void add(std::shared_ptr<Residency> load);
  /// Nothing more is said of a sample: it can be made as soon as it waits for nothing.
  void finish(std::uint64_t number) noexcept;
  /// A block is loaded, or failed: samples that waited for nothing else can be made.
  void loaded(Residency& block) noexcept;

  /// The first load that may not begin yet; null: there is none.
  const Residency* next_load() noexcept;
  /// The load that `next_load` gives may begin.
  void let_begin() noexcept;
  bool has_work() const noexcept { return stretches_.has_work(); }
  /// The next piece of work in the stretch of samples that a runner holds, or in another, which it then holds. The
  /// runner is known by the address of `held`.
  Work take(std::uint64_t& held) noexcept;
  /// The runner turns to something else.
  void leave(std::uint64_t& held) noexcept { stretches_.leave(held); }
  /// Forgets all work. The samples' blocks are the caller's to let go, before.
  void clear() noexcept;

 private:
  void is_ready(Sample& sample) noexcept;
  std::size_t blocks_loaded_by(const void* runner, std::uint64_t stretch) const noexcept;

  std::vector<Sample> samples_;  // number n is n % size
  WorkStretches stretches_;
  std::uint64_t end_ = 0;      // samples that were begun
  std::uint64_t waiting_ = 0;  // those before this one have no load that may not begin yet
};

}  // namespace penstock::detail::runtime
