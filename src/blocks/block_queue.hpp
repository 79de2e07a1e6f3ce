#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::detail {

/// One stay of a block in memory.
struct Residency {
  std::uint64_t block = 0;
  std::size_t bytes = 0;
  std::byte* data = nullptr;
  std::uint64_t first_user = 0;  ///< the sample it is loaded for
  bool done = false;             ///< loaded, or failed
  std::size_t field = 0;         ///< of one that goes into a batch: slot of the source's schema
  bool in_batch = false;         ///< it is decoded into its rows of a batch, and takes no memory of its own
  std::optional<Error> failure;
  std::vector<std::uint64_t> waiters;  ///< samples that wait for it
};

/// What there is to do: loads, in the order in which they were planned, and samples whose blocks are there, lowest
/// number first. One thread at a time.
class BlockQueue {
 public:
  struct Sample {
    std::vector<std::shared_ptr<Residency>> blocks;  ///< in its record's order
    std::uint32_t missing = 0;                       ///< blocks that it waits for
    bool planned = false;
    std::uint64_t index = 0;
    std::size_t too_large = 0;  ///< bytes that its blocks need, where that is more than there is
  };
  struct Work {
    std::shared_ptr<Residency> load;      ///< to be loaded; null: a sample
    std::optional<std::uint64_t> sample;  ///< to be made
    explicit operator bool() const noexcept { return load != nullptr || sample.has_value(); }
  };

  /// `in_flight`: the most samples that are issued and not made.
  explicit BlockQueue(std::size_t in_flight);

  /// Number n, which is issued and not made.
  Sample& sample(std::uint64_t number) noexcept { return samples_[number % samples_.size()]; }
  const Sample& sample(std::uint64_t number) const noexcept { return samples_[number % samples_.size()]; }
  std::vector<Sample>& samples() noexcept { return samples_; }
  /// Sets up a sample that needs nothing.
  Sample& begin(std::uint64_t number) noexcept;
  /// A sample uses a block, and waits for it where it is not done. @throws std::bad_alloc.
  void wait_for(std::uint64_t number, Residency& block);
  /// A block is to be loaded. @throws std::bad_alloc.
  void add(std::shared_ptr<Residency> load) { loads_.push_back(std::move(load)); }
  /// Nothing more is said of a sample: it can be made as soon as it waits for nothing.
  void finish(std::uint64_t number) noexcept {
    if (sample(number).missing == 0) ready_.push(number);
  }
  /// A block is loaded, or failed: samples that waited for nothing else can be made.
  void loaded(Residency& block) noexcept;

  bool has_samples() const noexcept { return !ready_.empty(); }
  /// The next load; null: there is none.
  const Residency* next_load() const noexcept { return loads_.empty() ? nullptr : loads_.front().get(); }
  /// What comes first; a load only where it `may_load`. An earlier sample comes before a load for a later one.
  Work take(bool may_load) noexcept;
  /// Forgets all work. The samples' blocks are the caller's to let go, before.
  void clear() noexcept;

 private:
  std::vector<Sample> samples_;  // number n is n % size
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> ready_;
  std::deque<std::shared_ptr<Residency>> loads_;  // that have not begun
};

}  // namespace penstock::detail
