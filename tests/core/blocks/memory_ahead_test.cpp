// SPDX-License-Identifier: Apache-2.0
// A source may take a part of a loader's memory for blocks, for as long as the loader is there.
#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "core/blocks/chunks.hpp"

using namespace help;

namespace {

// Chunks that take up to `wanted` bytes, in steps of `step`.
struct Taker : Chunks {
  struct Counts {
    std::mutex mutex;
    std::vector<std::size_t> offered;
    std::atomic<std::size_t> taken{0};  ///< bytes that are the source's now
  };
  std::size_t wanted = 0, step = 1;
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();

  ps::BlocksAhead blocks_ahead() const { return {8, 1u << 20}; }
  void will_load(std::span<const std::uint64_t>) const noexcept {}
  void will_not_load(std::span<const std::uint64_t>) const noexcept {}
  ps::MemoryAhead take_memory(std::size_t most) const {
    const std::lock_guard lock(counts->mutex);
    counts->offered.push_back(most);
    const std::size_t bytes = std::min(most, wanted) / step * step;
    if (bytes == 0) return {};
    counts->taken += bytes;
    return {bytes, std::shared_ptr<const void>(counts.get(), [c = counts, bytes](const void*) { c->taken -= bytes; })};
  }
};

Taker taker(std::size_t wanted, std::size_t step = 1) {
  Taker source;
  source.count = 2000;
  source.per_block = 20;
  source.wanted = wanted;
  source.step = step;
  return source;
}

// Of the loader and the source.
std::uint64_t bytes_for_blocks(const ps::Loader& loader) {
  std::uint64_t bytes = 0;
  for (const ps::MemoryPurpose& purpose : loader.report().memory)
    if (purpose.name.starts_with("blocks that ")) bytes += purpose.bytes();
  return bytes;
}

}  // namespace

TEST_CASE("a source takes up to a quarter of the memory for blocks, and the loader keeps to the rest") {
  const Watchdog dog(60s);
  constexpr std::size_t limit = 40 * 640;
  struct Case {
    std::size_t wanted, step, taken;
  };
  for (const Case& of : {Case{0, 1, 0}, Case{1000, 1, 1000}, Case{limit, 1, limit / 4}, Case{limit, 4096, 4096},
                         Case{limit, limit / 2, 0}})
    for (const unsigned threads : {1u, 3u}) {
      CAPTURE(of.wanted, of.step, threads);
      const Taker source = taker(of.wanted, of.step);
      {
        ps::Loader loader(ps::from(source) | ps::shuffle({.seed = 3}) | ps::batch(16),
                          {.threads = threads, .max_block_bytes = limit, .epochs = 1});
        CHECK(source.counts->offered == std::vector<std::size_t>{limit / 4});
        for (const ps::Batch& b : loader.epoch()) check_values(source, b);
        CHECK(source.counts->taken == of.taken);
        // With what was taken, the memory is full, and not more than that.
        CHECK(bytes_for_blocks(loader) <= limit);
        CHECK(bytes_for_blocks(loader) + 672 > limit);
      }
      CHECK(source.counts->taken == 0);
    }
}

TEST_CASE("more memory taken means more loads, as for a smaller limit") {
  const Watchdog dog(60s);
  constexpr std::size_t limit = 40 * 640;
  const auto loads = [](const Taker& source, std::size_t of) {
    ps::Loader loader(ps::from(source) | ps::shuffle({.seed = 3}) | ps::batch(16),
                      {.threads = 1, .max_block_bytes = of, .epochs = 1});
    while (loader.next()) {
    }
    return source.decodes();
  };
  const std::uint64_t taken = loads(taker(limit), limit), small = loads(taker(0), limit - limit / 4);
  CHECK(taken == small);
  CHECK(taken > loads(taker(0), limit));
}

TEST_CASE("a record that needs more blocks than the rest has room for is a bad sample, which says so") {
  const Watchdog dog(60s);
  Taker source = taker(1u << 20);
  source.spanning = 1;  // two blocks of 640 or 672 bytes each
  constexpr std::size_t limit = 1600;
  ps::Loader loader(ps::from(source) | ps::batch(4), {.threads = 1, .max_block_bytes = limit, .epochs = 1});
  try {
    (void)loader.next();
    FAIL("no error");
  } catch (const ps::Error& error) {
    CHECK(error.code() == ps::Errc::limit_exceeded);
    CHECK(std::string(error.what()).find("there are 1200 for blocks") != std::string::npos);
  }
}

TEST_CASE("a source that says it took more than it was offered gets no more than that") {
  struct Greedy : Taker {
    ps::MemoryAhead take_memory(std::size_t most) const { return {4 * most, std::make_shared<const int>(0)}; }
  };
  const Watchdog dog(60s);
  Greedy source;
  source.count = 500;
  constexpr std::size_t limit = 40 * 640;
  ps::Loader loader(ps::from(source) | ps::batch(16), {.max_block_bytes = limit, .epochs = 1});
  for (const ps::Batch& b : loader.epoch()) check_values(source, b);
  CHECK(bytes_for_blocks(loader) <= limit);
}

TEST_CASE("the sources of a join get equal parts, each source once, and what is left if that is too little") {
  const Watchdog dog(60s);
  constexpr std::size_t limit = 64 * 640, offered = limit / 4;
  const auto taken = [](const ps::Pipeline& p, std::initializer_list<const Taker*> sources) {
    const ps::Loader loader(p | ps::batch(8), {.threads = 1, .max_block_bytes = limit, .epochs = 1});
    std::vector<std::size_t> bytes;
    for (const Taker* const source : sources) bytes.push_back(source->counts->taken);
    return bytes;
  };
  const Chunks plain{.count = 2000, .per_block = 9};
  const Taker a = taker(limit), b = taker(limit), small = taker(100), coarse = taker(limit, offered / 2 + 1);
  const ps::AnySource same(a);
  using Bytes = std::vector<std::size_t>;
  CHECK(taken(ps::from(ps::concat({a, plain, b})), {&a, &b}) == Bytes{offered / 2, offered / 2});
  CHECK(taken(ps::from(ps::zip({a, {plain, "p_"}, {b, "b_"}}, {.by = ps::PairBy::position})), {&a, &b}) ==
        Bytes{offered / 2, offered / 2});
  CHECK(taken(ps::from(ps::concat({same, same, same})), {&a}) == Bytes{offered});
  CHECK(taken(ps::from(ps::concat({small, b})), {&small, &b}) == Bytes{100, offered / 2});
  CHECK(taken(ps::from(ps::concat({coarse, small})), {&coarse, &small}) == Bytes{offered / 2 + 1, 100});
  CHECK(taken(ps::from(plain), {&a}) == Bytes{0});
  CHECK(taken(ps::from(a) | ps::take(100), {&a}) == Bytes{offered});
}
