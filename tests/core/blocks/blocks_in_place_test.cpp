// SPDX-License-Identifier: Apache-2.0
// Blocks that are rows of one field: decoded right into a batch where that can be, and what comes of it is the same.
#include "support/catch.hpp"

#include "core/blocks/chunks.hpp"
#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {

constexpr std::size_t few = 3 * 8 * 32;  // memory for three blocks of eight records

}  // namespace

TEST_CASE("blocks of rows that there is no room for are decoded right into the batch, once an epoch") {
  const Watchdog dog(60s);
  for (const unsigned threads : {1u, 2u, 4u}) {
    const Chunks source{.count = 1000, .per_block = 8, .rows = true};
    ps::Loader loader(ps::from(source) | ps::batch(16), {.threads = threads, .max_block_bytes = few, .epochs = 3});
    for (int e = 0; e < 3; ++e)
      for (const ps::Batch& b : loader.epoch()) check_values(source, b);
    // Three blocks stay for the epochs after the first.
    CHECK(source.decodes() == source.blocks() + 2 * (source.blocks() - 3));
    CHECK(loader.report().copied_bytes == 3 * few);
  }
}

TEST_CASE("blocks that reach over a batch are copied from as ever") {
  const Watchdog dog(60s);
  const Chunks source{.count = 1003, .per_block = 8, .rows = true};
  ps::Loader loader(ps::from(source) | ps::batch(20), {.threads = 2, .max_block_bytes = few, .epochs = 1});
  for (const ps::Batch& b : loader.epoch()) check_values(source, b);
  CHECK(source.decodes() == source.blocks());
  // The first two stay; of five blocks the third lies in two batches; the last one is not full.
  CHECK(loader.report().copied_bytes == 32 * (16 + 8 * 25 + 3));
}

TEST_CASE("blocks that an order needs and that all stay in memory are decoded once for all epochs") {
  const Watchdog dog(60s);
  for (const std::uint64_t used : {96u, 40u}) {
    const Chunks source{.count = 96, .per_block = 8, .rows = true};
    ps::Loader loader(ps::from(source) | ps::take(used) | ps::batch(16),
                      {.threads = 2, .max_block_bytes = static_cast<std::size_t>(used) * 32, .epochs = 4});
    for (int e = 0; e < 4; ++e)
      for (const ps::Batch& b : loader.epoch()) check_values(source, b);
    CHECK(source.decodes() == used / 8);
  }
}

TEST_CASE("the number of decodes into batches does not depend on threads or time") {
  const Watchdog dog(120s);
  for (std::uint64_t trial = 0; trial < scaled(60, 10); ++trial) {
    auto dice = [trial, n = std::uint64_t{0}](std::uint64_t below) mutable { return mix(trial * 31 + n++) % below; };
    const Chunks source{.count = 50 + dice(300), .per_block = 1 + dice(9), .rows = true};
    const std::uint64_t kind = dice(4), rows = 1 + dice(30), turns = 1 + dice(3);
    const unsigned depth = 2 + static_cast<unsigned>(dice(4));
    ps::Pipeline p = ps::from(source) | ps::seed(trial);
    if (kind == 1) p = p | ps::shuffle({.blocks = true, .window_blocks = 2});
    if (kind == 2) p = p | ps::take(1 + dice(source.count));
    p = p | ps::repeat(turns) | ps::batch(rows);
    const std::size_t limit = 2 * 32 * (source.per_block + 1) + dice(20) * 32 * source.per_block;
    std::optional<std::uint64_t> decodes;
    for (const unsigned threads : {1u, 2u, 4u}) {
      source.shared->loads.clear();
      source.shared->before_load = [&](std::uint64_t b) {
        std::this_thread::sleep_for(mix(b + threads * 1000) % 5 * 30us);
      };
      ps::Loader loader(p, {.threads = threads, .depth = depth, .max_block_bytes = limit, .epochs = 2});
      for (int e = 0; e < 2; ++e)
        for (const ps::Batch& b : loader.epoch()) check_values(source, b);
      INFO("trial " << trial << ", " << threads << " threads, order " << kind);
      CHECK(source.decodes() == decodes.value_or(source.decodes()));
      decodes = source.decodes();
    }
  }
}

TEST_CASE("where blocks are decoded to makes no difference") {
  const Watchdog dog(180s);
  const auto odd = [](ps::View<const std::uint64_t, 1> x) { return x(0) % 2 == 1; };
  const auto more = [](ps::View<const std::uint64_t, 1> in, ps::View<std::uint64_t, 1> out) {
    for (int k = 0; k < 4; ++k) out(k) = in(k) + 1;
  };
  // Changes a field of some samples, or fails.
  const auto fickle = [](ps::Sample& sample, ps::Context& context) {
    if (context.rng().below(9) == 0) throw ps::Error(ps::Errc::corrupt, "by lot");
    if (context.rng().below(5) == 0) sample.view<std::uint64_t, 1>("x")(1) ^= 1;
  };
  for (std::uint64_t trial = 0; trial < scaled(300, 30); ++trial) {
    auto dice = [trial, n = std::uint64_t{0}](std::uint64_t below) mutable { return mix(trial * 977 + n++) % below; };
    Chunks kept{.count = 40 + dice(300), .per_block = 1 + dice(9)};
    if (dice(3) == 0)
      for (int f = 0; f < 3; ++f) kept.shared->faults[dice(kept.blocks())] = Fault::corrupt;
    Chunks placed = kept;
    placed.rows = true;
    const std::uint64_t order = dice(5), stage = dice(6), policy = dice(3), rows = 1 + dice(24);
    const auto pipeline = [&](const Chunks& source) {
      ps::Pipeline p = ps::from(source) | ps::seed(trial);
      if (order == 1) p = p | ps::shuffle({.blocks = true, .window_blocks = 2});
      if (order == 2) p = p | ps::shuffle();
      if (order == 3) p = p | ps::skip(3);
      if (stage == 1) p = p | ps::filter("x", odd);
      if (stage == 2) p = p | ps::map("x", more);
      if (stage == 3) p = p | ps::map("x", more, {.out = "y"});
      if (stage == 4) p = p | fickle;
      if (policy == 0) p = p | ps::on_error({.policy = ps::OnError::mask});
      if (policy == 1) p = p | ps::on_error({.policy = ps::OnError::replace});
      if (policy == 2) p = p | ps::on_error({.policy = ps::OnError::drop});
      return p | ps::batch(rows);
    };
    const std::size_t limit = 4 * 32 * (kept.per_block + 1) + dice(10) * 32;
    INFO("trial " << trial << ", order " << order << ", stage " << stage << ", policy " << policy);
    const std::vector<Got> expected = collect(pipeline(kept), {.threads = 1, .max_block_bytes = limit}, 3);
    const unsigned threads = 1 + static_cast<unsigned>(dice(4)), depth = 2 + static_cast<unsigned>(dice(4));
    CHECK(collect(pipeline(placed), {.threads = threads, .depth = depth, .max_block_bytes = limit}, 3) == expected);
    if (expected.size() < 4) continue;
    ps::Loader left(pipeline(placed), {.threads = threads, .depth = depth, .max_block_bytes = limit});
    std::size_t i = 0;
    while (i < expected.size() / 2)
      if (auto b = left.next()) REQUIRE(copy(*b) == expected[i++]);
    ps::Loader rest(pipeline(placed), {.threads = 2, .max_block_bytes = limit});
    rest.resume(left.state());
    while (i < expected.size())
      if (auto b = rest.next()) REQUIRE(copy(*b) == expected[i++]);
  }
}

TEST_CASE("a loader that is left while blocks are decoded into its batches goes away in peace") {
  const Watchdog dog(60s);
  const Chunks source{.count = 4000, .per_block = 8, .rows = true};
  source.shared->before_load = [](std::uint64_t b) { std::this_thread::sleep_for((b % 7) * 50us); };
  for (std::uint64_t n = 0; n < scaled(200, 40); ++n) {
    ps::Loader loader(ps::from(source) | ps::batch(16), {.threads = 3, .max_block_bytes = few});
    for (std::uint64_t i = 0; i < n % 5; ++i) check_values(source, *loader.next());
    if (n % 3 == 0) {
      for (const ps::Batch& b : loader.epoch()) {
        check_values(source, b);
        if (b.number() == n % 4) break;
      }
      check_values(source, *loader.next());
    }
  }
}

TEST_CASE("a source that can't say which blocks are rows is read all the same") {
  const Watchdog dog(60s);
  struct Unsure : Chunks {
    std::optional<ps::BlockRows> rows_of(std::uint64_t b) const {
      if (b % 3 == 0) throw ps::Error(ps::Errc::corrupt, "no one knows");
      return Chunks::rows_of(b);
    }
  };
  const Chunks chunks{.count = 400, .per_block = 8, .rows = true};
  ps::Loader loader(ps::from(Unsure{chunks}) | ps::batch(16), {.threads = 3, .max_block_bytes = few, .epochs = 2});
  for (int e = 0; e < 2; ++e)
    for (const ps::Batch& b : loader.epoch()) check_values(chunks, b);
  CHECK(loader.report().errors == 0);
}
