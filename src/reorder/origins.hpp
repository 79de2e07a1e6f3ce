#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/place.hpp>

#include "chain/chain.hpp"
#include "data/cursor.hpp"
#include "pipeline/make.hpp"

namespace penstock::detail {

/// One position, and what the samples that are made of it share: a stream's record, or the parent of a flat_map's
/// children. Belongs to whoever issues it, then to the runner that opens it until `opened`, then all its samples read
/// it; the last of them makes it vacant.
struct Origin {
  std::unique_ptr<ChainRun> run;  ///< holds the values; made on first use
  std::uint64_t epoch = 0, position = 0;
  std::uint64_t index = 0;
  Cursor at;                ///< not of a stream
  std::uint32_t count = 0;  ///< samples, where it was made
  bool end = false;         ///< no record: the epoch's end
  bool terminates = false;  ///< the end, or a stream's failure: nothing is shuffled across it
  bool last = false;        ///< the epoch ends behind it
  bool broken = false;
  Made made;
  std::vector<bool> skipped;           ///< of its samples, those of which nothing is to be made; empty: none
  std::atomic<std::uint32_t> left{0};  ///< samples not made yet
  std::atomic<bool> asks{false};       ///< opened, as soon as it is known what is skipped
  std::atomic<bool> opened{false};
  std::atomic<bool> vacant{true};
};

/// Says of which of an origin's samples nothing is to be made, before any is: sets `skipped`, or `made.fatal`. Asked by
/// the consumer's thread, for one origin after the other.
class OriginSkips {
 public:
  virtual ~OriginSkips() = default;
  virtual void choose(Origin& origin) noexcept = 0;
};

/// The ring of origins: number n, from 0, is in place n % size.
class Origins {
 public:
  explicit Origins(std::size_t count) : origins_(count) {}

  std::size_t size() const noexcept { return origins_.size(); }
  Origin& at(std::uint64_t number) noexcept { return origins_[number % origins_.size()]; }
  /// Only while nothing is in work.
  void reset() noexcept {
    for (Origin& origin : origins_) {
      origin.opened.store(false, std::memory_order_relaxed);
      origin.asks.store(false, std::memory_order_relaxed);
      origin.vacant.store(true, std::memory_order_relaxed);
    }
  }
  /// Takes a vacant one, for a position.
  Origin& take(std::uint64_t number) noexcept {
    Origin& origin = at(number);
    origin.vacant.store(false, std::memory_order_relaxed);
    origin.opened.store(false, std::memory_order_relaxed);
    origin.end = origin.terminates = origin.last = origin.broken = false;
    origin.asks.store(false, std::memory_order_relaxed);
    origin.count = 0;
    origin.skipped.clear();
    origin.made = {};
    return origin;
  }

 private:
  std::vector<Origin> origins_;
};

}  // namespace penstock::detail
