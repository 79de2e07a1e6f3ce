// SPDX-License-Identifier: Apache-2.0
// Joins of sources whose records share blocks: what comes of them, and how often each block is decoded.
#include "support/catch.hpp"

#include <penstock/join.hpp>
#include <penstock/windows.hpp>

#include "core/blocks/chunks.hpp"

using namespace help;

namespace {

// The records of `Chunks`, without blocks.
struct Flat {
  Chunks of;
  std::uint64_t size() const { return of.size(); }
  ps::Schema schema() const { return of.schema(); }
  std::string name() const { return of.name(); }
  std::string key(std::uint64_t i) const { return of.key(i); }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    auto x = out.emplace<std::uint64_t, 1>(0, {4});
    for (std::uint64_t j = 0; j < 4; ++j) x(static_cast<std::int64_t>(j)) = of.x_of(i, j);
  }
};

// Sources as they are, and without blocks.
struct Both {
  ps::AnySource blocks, flat;
  std::vector<Chunks> all;
};

Both chunks(std::uint64_t count, std::uint64_t seed) {
  const Chunks source{.count = count,
                      .per_block = 1 + mix(seed) % 9,
                      .spanning = mix(seed + 1) % 3 == 0 ? 1 + mix(seed + 2) % 4 : 0,
                      .rows = mix(seed + 1) % 3 == 1,
                      .spare = mix(seed + 3) % 2 == 0};
  if (seed % 5 == 4) return {Flat{source}, Flat{source}, {}};
  return {source, Flat{source}, {source}};
}

void add(std::vector<Chunks>& to, const std::vector<Chunks>& more) { to.insert(to.end(), more.begin(), more.end()); }

// A join of joins, `depth` deep, of `count` records where that is said.
Both joined(std::uint64_t seed, unsigned depth, std::uint64_t count = 0) {
  const std::uint64_t n = count != 0 ? count : 20 + mix(seed + 5) % 150;
  if (depth == 0) return chunks(n, seed);
  const std::uint64_t kind = mix(seed + 6) % (count != 0 ? 2 : 4);
  const Both a = joined(seed * 3 + 1, depth - 1, kind < 2 ? n : 0);
  Both b = joined(seed * 3 + 2, depth - 1, kind < 2 ? n : 0);
  std::vector<Chunks> all = a.all;
  add(all, b.all);
  const std::string prefix = "b" + std::to_string(depth) + "_";
  const auto with = [&](auto join) { return Both{join(a.blocks, b.blocks), join(a.flat, b.flat), all}; };
  if (kind == 0)
    return with([&](const ps::AnySource& x, const ps::AnySource& y) {
      return ps::zip({x, {y, prefix}}, {.by = ps::PairBy::position});
    });
  if (kind == 1) {
    // The other way round, by numbers.
    return with([&](const ps::AnySource& x, const ps::AnySource& y) {
      return ps::zip({{ps::windows(x, {.length = 1, .stride = 1})}, {y, prefix}}, {.by = ps::PairBy::position});
    });
  }
  // Parts of one schema.
  b = chunks(n, seed + 9);
  const Both c = chunks(n / 2 + 1, seed + 10);
  all = b.all;
  add(all, c.all);
  const auto of = [&](auto join) { return Both{join(b.blocks, c.blocks), join(b.flat, c.flat), all}; };
  if (kind == 2) return of([](const ps::AnySource& x, const ps::AnySource& y) { return ps::concat(x, y); });
  return of([&](const ps::AnySource& x, const ps::AnySource& y) {
    return ps::interleave(x, y, {.block = 1 + mix(seed) % 5});
  });
}

std::vector<std::byte> values(const ps::AnySource& source, std::uint64_t record) {
  const ps::OwnedSample sample = ps::from(source).at(record);
  std::vector<std::byte> all;
  for (const ps::Field& field : source.schema()) {
    const auto value = sample[field.name];
    const auto* const bytes = static_cast<const std::byte*>(value.data);
    all.insert(all.end(), bytes, bytes + value.shape.elements() * ps::size_of(value.dtype));
  }
  return all;
}

}  // namespace

TEST_CASE("joined blocks give what the records give without blocks, each decoded once where they fit") {
  const Watchdog dog(120s);
  for (std::uint64_t t = 0; t < scaled(120, 20); ++t) {
    const Both source = joined(t, 1 + static_cast<unsigned>(t % 3));
    const auto with = [&](const ps::AnySource& s) {
      ps::Pipeline p = ps::from(s) | ps::seed(t);
      if (t % 4 == 1) p = p | ps::shuffle();
      if (t % 4 == 2) p = p | ps::shuffle({.blocks = true, .window_blocks = 3, .block_size = 16});
      return p | ps::batch(1 + mix(t) % 12);
    };
    CAPTURE(t, source.blocks.model()->name());
    const std::vector<Got> expected = collect(with(source.flat), {.threads = 1}, 2);
    for (const unsigned threads : {1u, 3u}) {
      for (const Chunks& one : source.all) one.shared->loads.clear();
      CHECK(collect(with(source.blocks), {.threads = threads, .max_block_bytes = std::size_t{4} << 20}, 2) == expected);
      for (const Chunks& one : source.all)
        for (const auto& [block, times] : one.shared->loads) CHECK(times == 1);
      // With room for what a sample needs, and little more.
      CHECK(collect(with(source.blocks), {.threads = threads, .max_block_bytes = 12'000}, 2) == expected);
    }
    // Outside of a loader.
    const std::uint64_t middle = source.blocks.size() / 2;
    CHECK(values(source.blocks, middle) == values(source.flat, middle));
  }
}

TEST_CASE("a pair's blocks are decoded once, in whatever order its parts have them") {
  const Chunks images{.count = 300, .per_block = 7}, masks{.count = 300, .per_block = 11, .spanning = 3};
  struct Backwards : Chunks {
    std::string key(std::uint64_t i) const { return Chunks::key(count - 1 - i); }
  };
  const ps::AnySource all = ps::pair({{images}, {Backwards{masks}, "mask_"}});
  for (const ps::Pipeline& p : {ps::from(all), ps::from(all) | ps::shuffle({.seed = 5})}) {
    images.shared->loads.clear();
    masks.shared->loads.clear();
    ps::Loader loader(p | ps::batch(9), {.threads = 3, .epochs = 1});
    for (const ps::Batch& b : loader.epoch()) {
      check_values(images, b);
      const auto mask = b.view<std::uint64_t, 2>("mask_x");
      for (std::int64_t r = 0; r < mask.extent(0); ++r)
        REQUIRE(mask(r, 3) == masks.x_of(299 - b.indices()[static_cast<std::size_t>(r)], 3));
    }
    CHECK(images.decodes() == images.blocks());
    CHECK(masks.decodes() == masks.blocks());
  }
}

TEST_CASE("blocks of rows are decoded right into the batch through joins as well") {
  const Watchdog dog(60s);
  constexpr std::size_t few = 3 * 8 * 32;
  const Chunks a{.count = 800, .per_block = 8, .rows = true}, b{.count = 400, .per_block = 8, .rows = true};
  const auto copied = [](const ps::AnySource& source, std::size_t block_bytes) {
    ps::Loader loader(ps::from(source) | ps::batch(16), {.threads = 2, .max_block_bytes = block_bytes, .epochs = 1});
    for (const ps::Batch& batch : loader.epoch()) CHECK(batch.size() == 16);
    return loader.report().copied_bytes;
  };
  CHECK(copied(a, few) == few);
  CHECK(copied(ps::concat(a, b), few) == few);
  CHECK(a.decodes() == 2 * a.blocks());
  CHECK(b.decodes() == b.blocks());
  a.shared->loads.clear();
  CHECK(copied(ps::zip({{Records{.count = 800}, "r_"}, a}, {.by = ps::PairBy::position}), few) == few);
  CHECK(a.decodes() == a.blocks());
}

TEST_CASE("a block that can't be decoded is an error of its part's record") {
  const Chunks good{.count = 60, .per_block = 4};
  Chunks bad{.count = 60, .per_block = 5};
  bad.shared->faults[3] = Fault::corrupt;
  struct Elsewhere : Chunks {
    std::string name() const { return "elsewhere"; }
    std::string file() const { return "/data/elsewhere"; }
  };
  const Elsewhere part{bad};
  const auto rows = [](const ps::AnySource& source) {
    ps::Loader loader(ps::from(source) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(1),
                      {.threads = 2, .epochs = 1});
    std::vector<std::uint64_t> masked;
    for (const ps::Batch& b : loader.epoch())
      if (b.mask()[0] == 0) masked.push_back(b.indices()[0]);
    return masked;
  };
  const auto first_error = [](const ps::AnySource& source) {
    ps::Loader loader(ps::from(source) | ps::batch(60), {.threads = 2});
    const auto error = error_of([&] {
      while (loader.next()) {
      }
    });
    REQUIRE(error);
    CHECK(error->source() == "elsewhere");
    CHECK(error->file() == "/data/elsewhere");
    CHECK(error->stage() == "read");
    return *error;
  };
  const ps::AnySource one_after_the_other = ps::concat(good, part);
  CHECK(rows(one_after_the_other) == std::vector<std::uint64_t>{75, 76, 77, 78, 79});
  CHECK(first_error(one_after_the_other).index() == 75);
  CHECK(first_error(one_after_the_other).cause().find("; it is record 15 of part 1 of concat") != std::string::npos);
  for (const ps::AnySource& zipped : {ps::zip({good, {part, "p_"}}, {.by = ps::PairBy::position}),
                                      ps::zip({{good, "a_"}, {good, "b_"}, part}, {.by = ps::PairBy::position})}) {
    CHECK(rows(zipped) == std::vector<std::uint64_t>{15, 16, 17, 18, 19});
    CHECK(first_error(zipped).index() == 15);
  }
}
