// SPDX-License-Identifier: Apache-2.0
// Blocks are announced to their source before they are loaded, and each announcement ends.
#include "support/catch.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/blocks/chunks.hpp"

using namespace help;

namespace {

// Chunks that count what they are told.
struct Told : Chunks {
  struct Counts {
    std::mutex mutex;
    std::map<std::uint64_t, std::int64_t> open;  ///< announcements that have not ended, by block
    std::vector<std::uint64_t> order;            ///< announced blocks, in order
    std::uint64_t announced = 0, withdrawn = 0, unannounced = 0, most_open = 0, wrong = 0;
    std::uint64_t left() const {
      std::uint64_t n = 0;
      for (const auto& [block, times] : open) n += times > 0 ? 1 : 0;
      return n;
    }
  };
  ps::BlocksAhead ahead{64, 1u << 30};
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();

  ps::BlocksAhead blocks_ahead() const { return ahead; }
  void will_load(std::span<const std::uint64_t> blocks) const noexcept {
    const std::lock_guard lock(counts->mutex);
    for (const std::uint64_t block : blocks) {
      if (block >= this->blocks()) ++counts->wrong;
      ++counts->open[block];
      ++counts->announced;
      counts->order.push_back(block);
    }
    counts->most_open = std::max(counts->most_open, counts->left());
  }
  void will_not_load(std::span<const std::uint64_t> blocks) const noexcept {
    const std::lock_guard lock(counts->mutex);
    for (const std::uint64_t block : blocks) {
      // A record that was read outside a plan may have loaded the block.
      auto& open = counts->open[block];
      if (open == 0) continue;
      --open;
      ++counts->withdrawn;
    }
  }
  void load(std::uint64_t block, std::span<std::byte> bytes) const {
    {
      const std::lock_guard lock(counts->mutex);
      auto& open = counts->open[block];
      if (open > 0)
        --open;
      else
        ++counts->unannounced;
    }
    Chunks::load(block, bytes);
  }
};

Told told(std::uint64_t count, std::uint64_t per_block, ps::BlocksAhead ahead = {64, 1u << 30}) {
  Told source;
  source.count = count;
  source.per_block = per_block;
  source.ahead = ahead;
  return source;
}

void check_ended(const Told& source) {
  CHECK(source.counts->left() == 0);
  CHECK(source.counts->wrong == 0);
  CHECK(source.counts->announced + source.counts->unannounced == source.decodes() + source.counts->withdrawn);
}

}  // namespace

TEST_CASE("blocks are announced in the order of their first uses, each before it is loaded") {
  const Watchdog dog(60s);
  for (const unsigned threads : {1u, 3u})
    for (const std::uint64_t per_block : {2u, 8u, 700u}) {
      const Told source = told(5000, per_block);
      {
        ps::Loader loader(ps::from(source) | ps::batch(16),
                          {.threads = threads, .depth = 3, .max_block_bytes = 1 << 20, .epochs = 1});
        for (const ps::Batch& b : loader.epoch()) check_values(source, b);
      }
      INFO(threads << " threads, " << per_block << " records a block");
      check_ended(source);
      CHECK(source.counts->unannounced == 0);
      CHECK(source.counts->announced == source.blocks());
      CHECK(std::ranges::is_sorted(source.counts->order));
    }
}

TEST_CASE("what is announced is bounded by blocks and by bytes, and reaches beyond the batches in the ring") {
  const Watchdog dog(60s);
  // 16 rows and 3 batches are a quarter of a block.
  const Told blocks = told(20'000, 200, {.blocks = 5, .bytes = 1u << 30});
  ps::Loader loader(ps::from(blocks) | ps::batch(16), {.threads = 1, .depth = 3, .max_block_bytes = 1 << 20});
  (void)loader.next();
  CHECK(blocks.counts->most_open >= 4);
  CHECK(blocks.counts->most_open <= 6);  // one may be on its way into memory
  for (int i = 0; i < 400; ++i) (void)loader.next();
  CHECK(blocks.counts->most_open <= 6);

  const Told bytes = told(20'000, 200, {.blocks = 64, .bytes = 3 * 6400});
  ps::Loader other(ps::from(bytes) | ps::batch(16), {.threads = 1, .depth = 3, .max_block_bytes = 1 << 20});
  for (int i = 0; i < 400; ++i) (void)other.next();
  CHECK(bytes.counts->most_open >= 3);
  CHECK(bytes.counts->most_open <= 5);

  // Without an announcement nothing else changes.
  const Told none = told(2000, 200, {});
  ps::Loader silent(ps::from(none) | ps::batch(16), {.threads = 1, .max_block_bytes = 1 << 20, .epochs = 1});
  for (const ps::Batch& b : silent.epoch()) check_values(none, b);
  CHECK(none.counts->announced == 0);
}

TEST_CASE("each announcement ends, whatever the loader does") {
  const Watchdog dog(120s);
  std::uint64_t announced = 0, withdrawn = 0, unannounced = 0;
  for (std::uint64_t trial = 0; trial < scaled(200, 40); ++trial) {
    auto dice = [trial, n = std::uint64_t{0}](std::uint64_t below) mutable { return mix(trial * 100 + n++) % below; };
    Told source = told(50 + dice(600), 1 + dice(20), {.blocks = 1 + dice(40), .bytes = 32 * (1 + dice(20'000))});
    source.spanning = dice(2) * (1 + dice(5));
    source.spare = dice(3) == 0;
    source.rows = source.spanning == 0 && dice(3) == 0;
    const std::size_t limit = 2 * 32 * (source.per_block + 1) + dice(20) * 32 * source.per_block;
    if (dice(2) == 0) source.shared->before_load = [](std::uint64_t b) { std::this_thread::sleep_for((b % 5) * 20us); };
    if (dice(4) == 0) source.shared->faults[dice(source.blocks())] = Fault::corrupt;
    ps::Pipeline p = ps::from(source) | ps::seed(trial);
    const std::uint64_t kind = dice(3);
    if (kind == 1) p = p | ps::shuffle();
    if (kind == 2) p = p | ps::shuffle({.blocks = true, .window_blocks = 1 + dice(6)});
    if (dice(4) == 0)
      p = p | ps::filter([](const ps::Sample& s) { return s.view<const std::uint64_t, 1>("x")(0) % 3 != 0; });
    p = p | ps::batch(1 + dice(20)) | ps::on_error({.policy = ps::OnError::mask});
    {
      ps::Loader loader(p, {.threads = 1 + static_cast<unsigned>(dice(3)), .max_block_bytes = limit});
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
    check_ended(source);
    announced += source.counts->announced, withdrawn += source.counts->withdrawn;
    unannounced += source.counts->unannounced;
  }
  std::printf("announced %llu, withdrawn %llu, loads without an announcement %llu\n",
              static_cast<unsigned long long>(announced), static_cast<unsigned long long>(withdrawn),
              static_cast<unsigned long long>(unannounced));
  CHECK(announced > 100);
  CHECK(withdrawn > 100);
}

TEST_CASE("a block that is given up and needed again is announced again") {
  const Watchdog dog(60s);
  for (const unsigned threads : {1u, 3u}) {
    const Told source = told(400, 20, {.blocks = 1000, .bytes = 1u << 30});
    {
      // Memory for four of twenty blocks.
      ps::Loader loader(ps::from(source) | ps::shuffle({.seed = 3}) | ps::batch(8),
                        {.threads = threads, .depth = 2, .max_block_bytes = 4 * 21 * 32, .epochs = 1});
      for (const ps::Batch& b : loader.epoch()) check_values(source, b);
    }
    check_ended(source);
    // What is given up and needed again within one batch is loaded before it could be announced.
    CHECK(source.counts->unannounced * 20 < source.counts->announced);
    CHECK(source.counts->announced > 5 * source.blocks());
  }
}

TEST_CASE("joins pass announcements on to the parts that want them") {
  const Watchdog dog(60s);
  const Told a = told(300, 10), b = told(300, 7);
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
  for (const Told& part : {a, b}) {
    CHECK(part.counts->unannounced == 0);
    check_ended(part);
  }
}
