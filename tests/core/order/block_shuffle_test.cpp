// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <set>

#include "base/hash.hpp"
#include "core/order/order_help.hpp"
#include "order/bijection.hpp"

using namespace help;

namespace {

struct Blocked : Records {
  std::vector<std::uint64_t> ends;
  std::vector<ps::Group> runs = {};
  std::vector<std::uint64_t> block_ends() const { return ends; }
  std::vector<ps::Group> groups() const { return runs; }
};

ps::Pipeline blocked(const std::vector<std::uint64_t>& ends, const ps::ShuffleOptions& options) {
  Blocked source;
  source.count = ends.empty() ? 0 : ends.back();
  source.ends = ends;
  return ps::from(source) | ps::shuffle(options);
}

std::vector<std::uint64_t> ends_of(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> ends(sizes.size());
  std::partial_sum(sizes.begin(), sizes.end(), ends.begin());
  return ends;
}

// Lists: blocks shuffled, then each window's records one after the other, permuted.
std::vector<std::uint64_t> model(const std::vector<std::uint64_t>& ends, std::uint64_t window, std::uint64_t seed,
                                 std::uint64_t epoch) {
  using namespace ps::detail;
  const std::uint64_t epoch_seed = hash_mix(hash_mix(seed, hash_text("shuffle", 0)), epoch);
  std::vector<std::vector<std::uint64_t>> blocks;
  std::uint64_t first = 0;
  for (const std::uint64_t end : ends) {
    std::vector<std::uint64_t> block;
    for (; first < end; ++first) block.push_back(first);
    if (!block.empty()) blocks.push_back(block);
  }
  ps::Rng rng(epoch_seed, 0x626c6f636b73, {});
  for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[rng.below(i)]);
  std::vector<std::uint64_t> out;
  for (std::size_t w = 0; w * window < blocks.size(); ++w) {
    std::vector<std::uint64_t> open;
    for (std::size_t b = w * window; b < std::min<std::size_t>(blocks.size(), (w + 1) * window); ++b)
      open.insert(open.end(), blocks[b].begin(), blocks[b].end());
    const Bijection bijection(open.size(), hash_mix(epoch_seed, w));
    for (std::uint64_t i = 0; i < open.size(); ++i) out.push_back(open[bijection(i)]);
  }
  return out;
}

// The most blocks that were begun and not finished at any time.
std::uint64_t max_open(const std::vector<std::uint64_t>& order, const std::vector<std::uint64_t>& ends) {
  std::vector<std::uint64_t> left;
  for (std::size_t b = 0; b < ends.size(); ++b) left.push_back(ends[b] - (b == 0 ? 0 : ends[b - 1]));
  std::set<std::size_t> open;
  std::size_t most = 0;
  for (const std::uint64_t record : order) {
    const auto b = static_cast<std::size_t>(std::ranges::upper_bound(ends, record) - ends.begin());
    open.insert(b);
    most = std::max(most, open.size());
    if (--left[b] == 0) open.erase(b);
  }
  return most;
}

}  // namespace

TEST_CASE("a shuffle of blocks holds every record once and opens no more blocks than its window") {
  for (std::uint64_t t = 0; t < 150; ++t) {
    std::vector<std::uint64_t> sizes;
    const std::uint64_t largest = t % 3 == 0 ? 1 : t % 3 == 1 ? 12 : 400;
    for (std::uint64_t b = 0; b < 1 + mix(t) % 40; ++b) sizes.push_back(mix(t * 100 + b) % (largest + 1));
    const auto ends = ends_of(sizes);
    const std::uint64_t window = 1 + mix(t + 7) % 50, n = ends.back();
    CAPTURE(t, n, sizes.size(), window);
    const ps::Pipeline p = blocked(ends, {.seed = t, .blocks = true, .window_blocks = window});
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      const auto order = order_of(p, epoch);
      REQUIRE(sorted(order) == numbers(n));
      REQUIRE(max_open(order, ends) <= window);
      REQUIRE(order == model(ends, window, t, epoch));
      REQUIRE(order == order_of(p, epoch));
    }
  }
}

TEST_CASE("blocks of a size that the source knows nothing of") {
  for (const std::uint64_t n : {0u, 1u, 2u, 255u, 256u, 257u, 1023u, 1024u, 1025u, 4097u})
    for (const std::uint64_t size : {1u, 2u, 7u, 256u, 5000u}) {
      CAPTURE(n, size);
      std::vector<std::uint64_t> ends;
      for (std::uint64_t end = 0; end < n;) ends.push_back(end = std::min(n, end + size));
      const ps::Pipeline p = records(n) | ps::shuffle({.seed = 3, .blocks = true, .block_size = size});
      const auto order = order_of(p, 1);
      CHECK(sorted(order) == numbers(n));
      if (n != 0) CHECK(order == model(ends, 16, 3, 1));
      // Where the source has blocks of its own, the size that is said counts.
      if (n != 0) CHECK(order_of(blocked({n}, {.seed = 3, .blocks = true, .block_size = size}), 1) == order);
    }
  const ps::Pipeline huge =
      records(std::uint64_t{1} << 40) | ps::shuffle({.blocks = true, .block_size = std::uint64_t{1} << 36});
  std::vector<std::uint64_t> some(1000);
  huge.fill(2, std::uint64_t{1} << 39, some);
  CHECK(std::set<std::uint64_t>(some.begin(), some.end()).size() == 1000);
  CHECK(*std::ranges::max_element(some) < std::uint64_t{1} << 40);
}

TEST_CASE("what a split by key or group, take or skip leaves of blocks stays together") {
  using By = ps::SplitOptions::By;
  for (std::uint64_t t = 0; t < 120; ++t) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t b = 0; b < 1 + mix(t) % 30; ++b) sizes.push_back(mix(t * 100 + b) % (t % 8 < 4 ? 25 : 900));
    Blocked source;
    source.ends = ends_of(sizes);
    source.count = source.ends.back();
    // Groups that end inside of blocks; one that is in both parts keeps the part from being empty.
    for (std::uint64_t end = 0; end < source.count;) {
      end = std::min(source.count, end + 1 + mix(t + end) % 700);
      source.runs.push_back({"g" + std::to_string(mix(end) % 50), end});
    }
    const ps::Stage before = t % 4 == 0   ? ps::split({.shares = {0.7, 0.3}, .by = By::key, .salt = t})
                             : t % 4 == 1 ? ps::take(mix(t) % 300)
                             : t % 4 == 2 ? ps::skip(mix(t) % 100)
                                          : ps::split({.shares = {1, 0}, .by = By::group, .salt = t});
    for (const std::uint64_t size : {0, 10}) {
      const ps::Pipeline part = ps::from(source) | before;
      std::vector<std::uint64_t> ends = source.ends;
      if (size != 0) {
        ends.clear();
        for (std::uint64_t end = 0; end < source.count;) ends.push_back(end = std::min(source.count, end + size));
      }
      const auto members = order_of(part);
      const ps::Pipeline p = part | ps::shuffle({.seed = t, .blocks = true, .window_blocks = 3, .block_size = size});
      CAPTURE(t, size, members.size());
      // How many of each block are left.
      std::vector<std::uint64_t> left(ends.size());
      for (const std::uint64_t i : members)
        ++left[static_cast<std::size_t>(std::ranges::upper_bound(ends, i) - ends.begin())];
      const auto order = order_of(p, t);
      REQUIRE(sorted(order) == members);
      // The model takes lists: positions in blocks of what is left, then the members at them.
      auto expected = model(ends_of(left), 3, t, t);
      for (std::uint64_t& i : expected) i = members[i];
      REQUIRE(order == expected);
    }
  }
}

TEST_CASE("stretches of the order of blocks take turns, and ranks share hardly any of them") {
  for (std::uint64_t t = 0; t < 100; ++t) {
    const std::uint64_t ranks = 1 + mix(t) % 5, rows = ranks * (1 + mix(t + 1) % 6), window = 1 + mix(t + 2) % 4;
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t b = 0; b < 1 + mix(t + 3) % 80; ++b) sizes.push_back(1 + mix(t * 100 + b) % 12);
    const auto ends = ends_of(sizes);
    const std::uint64_t n = ends.back();
    CAPTURE(t, ranks, rows, n);
    const ps::ShuffleOptions options{.seed = t, .blocks = true, .window_blocks = window, .ranks = ranks};
    const ps::Pipeline p = blocked(ends, options) | ps::batch(rows);
    const auto order = order_of(p, 1);
    REQUIRE(sorted(order) == numbers(n));
    if (ranks == 1) REQUIRE(order == model(ends, window, t, 1));
    CHECK(same_in_any_access(p, 2, 20));
    // The stretches one after the other are the order for one rank.
    const std::uint64_t batches = n / rows, each = rows / ranks;
    std::vector<std::uint64_t> in_turn;
    std::uint64_t decodes = 0;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      std::set<std::size_t> seen;
      for (std::uint64_t b = 0; b < batches; ++b)
        for (std::uint64_t r = 0; r < each; ++r) {
          const std::uint64_t record = order[b * rows + rank * each + r];
          in_turn.push_back(record);
          seen.insert(static_cast<std::size_t>(std::ranges::upper_bound(ends, record) - ends.begin()));
        }
      decodes += seen.size();
    }
    in_turn.insert(in_turn.end(), order.begin() + static_cast<std::ptrdiff_t>(batches * rows), order.end());
    CHECK(in_turn == model(ends, window, t, 1));
    CHECK(decodes <= sizes.size() + (ranks - 1) * window);
  }
}

TEST_CASE("numbers of ranks that can't be are refused") {
  const auto refused = [](const std::function<void()>& f) {
    const auto error = error_of(f);
    return error && error->code() == ps::Errc::invalid_argument && error->stage() == "shuffle";
  };
  CHECK(refused([] { (void)ps::shuffle({.ranks = 2}); }));
  CHECK(refused([] { (void)ps::shuffle({.blocks = true, .ranks = 0}); }));
  const ps::Pipeline p = records(100) | ps::shuffle({.blocks = true, .block_size = 10, .ranks = 3});
  CHECK(refused([&] { (void)(p | ps::batch(10)); }));
  CHECK(refused([&] { (void)(p | ps::filter([](const ps::Sample&) { return true; }) | ps::batch(9)); }));
  CHECK((p | ps::batch(9)).size() == 100);
  CHECK(refused([&] { (void)(p | ps::batch(9) | ps::on_error({.policy = ps::OnError::drop})); }));
}

TEST_CASE("epochs and seeds order blocks and records differently") {
  const std::vector<std::uint64_t> ends = ends_of(std::vector<std::uint64_t>(30, 20));
  std::set<std::vector<std::uint64_t>> seen, first_windows;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      const auto order = order_of(blocked(ends, {.seed = seed, .blocks = true, .window_blocks = 3}), epoch);
      seen.insert(order);
      first_windows.insert(sorted({order.begin(), order.begin() + 60}));
    }
  CHECK(seen.size() == 16);
  CHECK(first_windows.size() > 12);
}

TEST_CASE("any block may come first, and any record of its window") {
  const ps::Pipeline p = blocked(ends_of(std::vector<std::uint64_t>(12, 5)), {.blocks = true, .window_blocks = 4});
  std::vector<std::uint64_t> blocks(12), records(60);
  for (std::uint64_t epoch = 0; epoch < 12000; ++epoch) {
    std::uint64_t first = 0;
    p.fill(epoch, 0, {&first, 1});
    ++blocks[first / 5];
    ++records[first];
  }
  CHECK(fits(blocks, std::vector<double>(12, 1.0 / 12)));
  CHECK(fits(records, std::vector<double>(60, 1.0 / 60)));
}

TEST_CASE("a shuffle of blocks is the same in any access, from any thread") {
  for (const std::uint64_t n : {127u, 1025u, 4095u}) {
    std::vector<std::uint64_t> ends;
    for (std::uint64_t end = 0; end < n;) ends.push_back(end = std::min(n, end + mix(ends.size() * n) % 90));
    CHECK(same_in_any_access(blocked(ends, {.blocks = true, .window_blocks = 5}), 5, scaled(1500)));
    CHECK(
        same_in_any_access(blocked(ends, {.blocks = true, .window_blocks = 5}) | ps::repeat(3) | ps::skip(9), 3, 500));
  }
}

TEST_CASE("shuffles of blocks that make no sense are refused") {
  const auto refused = [](const std::function<void()>& f, const std::string& word) {
    const auto error = error_of(f);
    return error && error->code() == ps::Errc::invalid_argument && error->stage() == "shuffle" &&
           error->cause().find(word) != std::string::npos;
  };
  CHECK(refused([] { (void)(records(8) | ps::shuffle({.window = 4})); }, ".blocks"));
  CHECK(refused([] { (void)ps::shuffle({.window_blocks = 4}); }, ".blocks"));
  CHECK(refused([] { (void)ps::shuffle({.blocks = true, .window_blocks = 0}); }, "at least 1"));
  CHECK(refused([] { (void)ps::shuffle({.blocks = true, .window = 4}); }, ".window_blocks"));
  CHECK(refused([] { (void)ps::shuffle({.block_size = 4}); }, ".blocks"));
  CHECK(refused([] { (void)(records(9) | ps::shuffle({.blocks = true})); }, ".block_size"));
  const ps::Stage pairs = ps::shuffle({.blocks = true, .block_size = 2});
  CHECK(refused([&] { (void)(records(9) | ps::shuffle() | pairs); }, "each epoch"));
  CHECK(refused([&] { (void)(records(9) | pairs | pairs); }, "each epoch"));
  CHECK(refused([&] { (void)(records(99) | ps::split({}) | pairs); }, "no neighbours"));
  CHECK(refused([&] { (void)(records(9) | ps::repeat(2) | pairs); }, "no neighbours"));
  CHECK(refused([&] { (void)(records(9) | ps::select({0, 2, 1}) | pairs); }, "no neighbours"));
  CHECK(refused([] { (void)(records(std::uint64_t{1} << 40) | ps::shuffle({.blocks = true, .block_size = 1})); },
                "larger"));
  const auto with_ends = [](std::vector<std::uint64_t> ends) {
    Blocked source;
    source.count = 10;
    source.ends = std::move(ends);
    return [source] { (void)(ps::from(source) | ps::shuffle({.blocks = true})); };
  };
  CHECK(refused(with_ends({5, 4, 10}), "ascend"));
  CHECK(refused(with_ends({5, 9}), "10"));
  CHECK(refused(with_ends({5, 11}), "10"));
  CHECK(refused(with_ends({}), ".block_size"));
  CHECK(error_of(with_ends({5, 11}))->source() == "records");
  struct Failing : Records {
    std::vector<std::uint64_t> block_ends() const { throw std::runtime_error("planted"); }
  };
  const auto error = error_of([] { (void)(ps::from(Failing{}) | ps::shuffle({.blocks = true})); });
  REQUIRE(error);
  CHECK(error->source() == "records");
  CHECK(error->cause() == "planted");
}

TEST_CASE("everything that changes the order of blocks is in the fingerprint") {
  const std::vector<std::uint64_t> ends{10, 20, 30};
  std::set<std::uint64_t> seen;
  for (const ps::ShuffleOptions& o : std::vector<ps::ShuffleOptions>{{},
                                                                     {.blocks = true},
                                                                     {.seed = 1, .blocks = true},
                                                                     {.blocks = true, .window_blocks = 2},
                                                                     {.blocks = true, .block_size = 10},
                                                                     {.blocks = true, .block_size = 11}})
    seen.insert(blocked(ends, o).fingerprint());
  seen.insert(blocked({10, 21, 30}, {.blocks = true}).fingerprint());
  CHECK(seen.size() == 7);
  CHECK(blocked(ends, {.blocks = true}).fingerprint() ==
        blocked(ends, {.blocks = true, .window_blocks = 16}).fingerprint());
  CHECK(blocked(ends, {.blocks = true}).plan().find("3 blocks of the source") != std::string::npos);
}
