// SPDX-License-Identifier: Apache-2.0
// The loop that a good engineer writes by hand: threads take tickets from one counter, and write their rows into a ring
// of batches. The loop has no consumer to which it delivers batches, so it is a limit, not a rival.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <penstock/extend/image_executor.hpp>
#include <penstock/loader.hpp>
#include <penstock/memory.hpp>
#include <penstock/pipeline.hpp>

#include "harness.hpp"

namespace penstock::bench {

// A ring of batches like the loader's, in the same kind of memory, whose pages have been touched.
class Ring {
 public:
  Ring(std::size_t row_bytes, std::uint64_t rows, unsigned depth);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();
  std::byte* row(std::uint64_t ticket) const noexcept { return data_ + ticket % rows_ * row_bytes_; }

 private:
  std::size_t row_bytes_;
  std::uint64_t rows_;  // rows of all batches together
  std::byte* data_;
};

// Starts `threads` threads. Each calls `make()` once, and then calls the returned function with tickets. Tickets from
// [0, tickets) are given out in order. Returns the time from the common start to the end of the last thread.
template <class Make>
Timing raw_loop(unsigned threads, std::uint64_t tickets, const Make& make) {
  alignas(64) std::atomic<std::uint64_t> next{0};
  alignas(64) std::latch ready(static_cast<std::ptrdiff_t>(threads));
  std::latch go(1);
  std::mutex mutex;
  std::exception_ptr failure;
  const auto note_failure = [&] {
    const std::lock_guard lock(mutex);
    if (failure == nullptr) failure = std::current_exception();
  };
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t) {
    pool.emplace_back([&] {
      bool arrived = false;
      try {
        auto body = make();
        ready.count_down();
        arrived = true;
        go.wait();
        for (std::uint64_t ticket; (ticket = next.fetch_add(1, std::memory_order_relaxed)) < tickets;) body(ticket);
      } catch (...) {
        note_failure();
        if (!arrived) ready.count_down();
      }
    });
  }
  ready.wait();
  const Stopwatch watch;
  go.count_down();
  for (std::thread& thread : pool) thread.join();
  const Timing timing{watch.wall_s(), watch.cpu_s()};
  if (failure != nullptr) std::rethrow_exception(failure);
  return timing;
}

// Returns the memory for batches of all rounds' loaders. What a loader gives back is kept for the next round, so that
// no round pays for page faults of new memory. (The raw loop keeps its ring.)
MemoryResource& round_memory();
// Frees the memory that `round_memory` keeps.
void trim_round_memory();

// Returns the seconds that a loader takes for `epochs` whole epochs, from the call for the first batch to the last
// batch. The loader is made before, with `block_bytes` bytes for decoded blocks. It reads nothing before the first
// call.
// @throws std::runtime_error if samples are missing.
Timing time_loader(const Pipeline& pipeline, const Executor& executor, unsigned threads, std::uint64_t epochs = 1,
                   std::size_t block_bytes = 0);

// The depth of every loader and of every ring.
inline constexpr unsigned ring_depth = 4;

// Returns the source indices of `epochs` epochs, one after the other.
std::vector<std::uint64_t> order_of(const Pipeline& pipeline, std::uint64_t epochs);

// The working memory of one thread of the raw loop. One thread at a time may use it.
class RawScratch final : public Scratch {
 public:
  RawScratch() = default;
  std::byte* allocate(std::size_t bytes) override;
  void reset() noexcept { used_ = 0; }

 private:
  static constexpr std::size_t capacity = std::size_t{16} << 20;
  struct Free {
    void operator()(std::byte* data) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t used_ = 0;
};

}  // namespace penstock::bench
