// SPDX-License-Identifier: Apache-2.0
// A source may lend its own memory for a block: it is held as long as the block is in memory, counted, and given back.
#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/blocks/chunks.hpp"

using namespace help;

namespace {

// Chunks that are lent, except each `refused`-th one.
struct Lent : Chunks {
  struct Counts {
    std::atomic<const ps::Loader*> loader{nullptr};  ///< asked for a report whenever memory is given back
    std::atomic<std::uint64_t> lent{0}, loaded{0}, given_back{0}, bytes{0}, most_bytes{0}, changed{0};
  };
  std::uint64_t refused = 0;
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();

  void load(std::uint64_t block, std::span<std::byte> bytes) const {
    ++counts->loaded;
    Chunks::load(block, bytes);
  }
  std::shared_ptr<const std::byte> lend(std::uint64_t block) const {
    if (refused != 0 && block % refused == 0) return nullptr;
    const std::size_t bytes = block_bytes(block);
    auto memory = std::make_unique<std::byte[]>(bytes);
    Chunks::load(block, {memory.get(), bytes});
    ++counts->lent;
    const std::uint64_t now = counts->bytes += bytes;
    for (std::uint64_t seen = counts->most_bytes; seen < now && !counts->most_bytes.compare_exchange_weak(seen, now);) {
    }
    std::byte* const data = memory.get();
    std::shared_ptr<const std::byte> lent(data, [self = *this, block, bytes](const std::byte* at) {
      // No lock of the loader is held.
      if (const ps::Loader* const loader = self.counts->loader) (void)loader->report();
      std::vector<std::byte> again(bytes);
      try {
        self.Chunks::load(block, again);
      } catch (...) {
      }
      if (!std::ranges::equal(again, std::span(at, bytes))) ++self.counts->changed;
      ++self.counts->given_back;
      self.counts->bytes -= bytes;
      delete[] at;
    });
    static_cast<void>(memory.release());
    return lent;
  }
};

Lent lent(std::uint64_t count, std::uint64_t per_block, std::uint64_t refused = 0) {
  Lent source;
  source.count = count;
  source.per_block = per_block;
  source.refused = refused;
  return source;
}

void check_given_back(const Lent& source) {
  CHECK(source.counts->given_back == source.counts->lent);
  CHECK(source.counts->bytes == 0);
  CHECK(source.counts->changed == 0);
}

}  // namespace

TEST_CASE("lent blocks give the batches of loaded ones, within the memory for blocks, and are all given back") {
  const Watchdog dog(120s);
  for (const unsigned threads : {1u, 3u})
    for (const std::uint64_t refused : {0u, 3u})
      for (const bool shuffled : {false, true}) {
        CAPTURE(threads, refused, shuffled);
        Lent source = lent(900, 20, refused);
        source.spanning = 5;
        const std::size_t limit = 6 * 21 * 32;
        {
          ps::Loader loader((shuffled ? ps::from(source) | ps::shuffle({.seed = 3}) : ps::from(source)) | ps::batch(16),
                            {.threads = threads, .depth = 3, .max_block_bytes = limit, .epochs = 2});
          source.counts->loader = &loader;
          for (int epoch = 0; epoch < 2; ++epoch)
            for (const ps::Batch& b : loader.epoch()) check_values(source, b);
          source.counts->loader = nullptr;
        }
        check_given_back(source);
        CHECK(source.counts->lent > 20);
        CHECK((source.counts->loaded != 0) == (refused != 0));
        // What is given up goes back when the next load begins; another thread's may begin at the same time.
        CHECK(source.counts->most_bytes <= limit + threads * 2 * 21 * 32);
      }
}

TEST_CASE("lent blocks are given back after errors, jumps, and a loader that is left in the middle") {
  const Watchdog dog(120s);
  for (std::uint64_t trial = 0; trial < scaled(200, 30); ++trial) {
    auto dice = [trial, n = std::uint64_t{0}](std::uint64_t below) mutable { return mix(trial * 100 + n++) % below; };
    Lent source = lent(50 + dice(400), 1 + dice(20), dice(4));
    source.spanning = dice(2) * (1 + dice(5));
    source.spare = dice(3) == 0;
    source.rows = source.spanning == 0 && dice(3) == 0;
    if (dice(3) == 0) source.shared->faults[dice(source.blocks())] = Fault::corrupt;
    ps::Pipeline p = ps::from(source) | ps::seed(trial);
    if (dice(2) == 0) p = p | ps::shuffle();
    p = p | ps::batch(1 + dice(20)) | ps::on_error({.policy = ps::OnError::mask});
    {
      ps::Loader loader(p, {.threads = 1 + static_cast<unsigned>(dice(3)),
                            .max_block_bytes = 2 * 32 * (source.per_block + 1) + dice(20) * 32 * source.per_block});
      const std::uint64_t steps = dice(60);
      for (std::uint64_t i = 0; i < steps; ++i) {
        try {
          (void)loader.next();
        } catch (const ps::Error&) {
        }
        if (dice(20) == 0) loader.resume(loader.state());
      }
    }
    INFO("trial " << trial);
    check_given_back(source);
  }
}

TEST_CASE("joins pass lent blocks on") {
  const Watchdog dog(60s);
  const Lent a = lent(300, 10), b = lent(300, 7);
  const Chunks plain{.count = 300, .per_block = 9};
  const auto run = [](const ps::Pipeline& p) {
    ps::Loader loader(p | ps::batch(8), {.threads = 2, .max_block_bytes = 1 << 20, .epochs = 1});
    std::uint64_t rows = 0;
    for (const ps::Batch& batch : loader.epoch()) rows += batch.size();
    return rows;
  };
  CHECK(run(ps::from(ps::concat({a, plain, b}))) == 900);
  CHECK(run(ps::from(ps::zip({a, {plain, "p_"}, {b, "b_"}}, {.by = ps::PairBy::position}))) == 300);
  CHECK(run(ps::from(ps::interleave({ps::from(a) | ps::take(100), ps::from(b) | ps::skip(50)}))) == 350);
  for (const Lent& part : {a, b}) {
    CHECK(part.counts->lent > 30);
    CHECK(part.counts->loaded == 0);
    check_given_back(part);
  }
}
