// SPDX-License-Identifier: Apache-2.0
// Sources whose records share blocks: what is decoded, how often, in how much memory, and what comes of it.
#include <penstock/testing/statistics_resource.hpp>

#include "support/catch.hpp"

#include <cstring>
#include <limits>
#include <list>
#include <set>
#include <tuple>

#include "core/blocks/chunks.hpp"
#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {

// The records of a run in order, from the pipeline's order alone.
std::vector<std::uint64_t> records(const ps::Pipeline& p, std::uint64_t epochs) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t e = 0; e < epochs; ++e) {
    std::vector<std::uint64_t> epoch(p.size());
    p.fill(e, 0, epoch);
    out.insert(out.end(), epoch.begin(), epoch.end());
  }
  return out;
}

}  // namespace

TEST_CASE("where the blocks of what is in work fit, each is decoded once") {
  const Watchdog dog(60s);
  for (const unsigned threads : {1u, 2u, 4u}) {
    const Chunks source{.count = 1003, .per_block = 8};
    const ps::Pipeline p =
        ps::from(source) | ps::shuffle({.seed = 4, .blocks = true, .window_blocks = 4}) | ps::batch(16);
    ps::Loader loader(p, {.threads = threads, .max_block_bytes = 12 * 288, .epochs = 1});
    for (const ps::Batch& b : loader.epoch()) check_values(source, b);
    CHECK(source.shared->loads.size() == source.blocks());
    CHECK(source.decodes() == source.blocks());
    CHECK(loader.report().copied_bytes == 1003 * 32);  // views into blocks that no stage changes
  }
}

TEST_CASE("the number of decodes is that of the rule, whatever the threads do") {
  const Watchdog dog(120s);
  for (std::uint64_t trial = 0; trial < scaled(60, 8); ++trial) {
    auto dice = [trial, n = std::uint64_t{0}](std::uint64_t below) mutable { return mix(trial * 100 + n++) % below; };
    Chunks source{.count = 100 + dice(400), .per_block = 1 + dice(12), .spanning = dice(2) * (1 + dice(5))};
    source.spare = dice(2) == 0;
    const std::uint64_t kind = dice(3), rows = 1 + dice(20);
    const unsigned depth = 2 + static_cast<unsigned>(dice(4));
    ps::Pipeline p = ps::from(source) | ps::seed(trial);
    if (kind == 1) p = p | ps::shuffle();
    if (kind == 2) p = p | ps::shuffle({.blocks = true, .window_blocks = 1 + dice(6)});
    p = p | ps::batch(rows);
    const std::size_t limit = 2 * 32 * (source.per_block + 1) + dice(20) * 32 * source.per_block;
    if (dice(2) == 0) source.shared->before_load = [](std::uint64_t b) { std::this_thread::sleep_for((b % 5) * 20us); };
    const std::uint64_t expected =
        decodes_of(source, records(p, 2), limit, std::max<std::uint64_t>(depth * rows, 4096));
    for (const unsigned threads : {1u, 3u}) {
      source.shared->loads.clear();
      ps::Loader loader(p, {.threads = threads, .depth = depth, .max_block_bytes = limit, .epochs = 2});
      for (int e = 0; e < 2; ++e)
        for (const ps::Batch& b : loader.epoch()) check_values(source, b);
      INFO("trial " << trial << ", " << threads << " threads, limit " << limit);
      CHECK(source.decodes() == expected);
    }
  }
}

TEST_CASE("blocks work with everything that decides on the way") {
  const Watchdog dog(60s);
  const Chunks source{.count = 500, .per_block = 10, .spanning = 3};
  struct Copies {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"c", ps::DType::u32, {}}); }
    std::uint32_t count(const ps::Sample& parent, ps::Context&) const {
      return static_cast<std::uint32_t>(parent.view<const std::uint64_t, 1>("x")(0) % 4);
    }
    void child(const ps::Sample&, std::uint32_t c, ps::Sample& out, ps::Context&) const {
      out.emplace<std::uint32_t, 0>("c", {})() = c;
    }
  };
  const auto odd = [](ps::View<const std::uint64_t, 1> x) { return x(0) % 2 == 1; };
  const ps::Pipeline begun = ps::from(source) | ps::shuffle({.seed = 1, .blocks = true, .window_blocks = 3});
  for (const ps::Pipeline& p : {begun | ps::filter("x", odd) | ps::batch(7), begun | Copies{} | ps::batch(7),
                                begun | ps::filter("x", odd) | Copies{} | ps::batch(7, {.tail = ps::Tail::pad})}) {
    const std::vector<Got> one = collect(p, {.threads = 1}, 2);
    CHECK(one.size() > 40);
    CHECK(collect(p, {.threads = 3, .max_block_bytes = 3000}, 2) == one);
    ps::Loader loader(p, {.threads = 2, .max_block_bytes = 2000});
    for (std::size_t i = 0; i < 11; ++i) REQUIRE(copy(*loader.next()) == one[i]);
    ps::Loader rest(p, {.threads = 3});
    rest.resume(loader.state());
    for (std::size_t i = 11; i < one.size();)
      if (auto b = rest.next()) REQUIRE(copy(*b) == one[i++]);
  }
}

TEST_CASE("decoded blocks never take more memory than they may") {
  const Watchdog dog(60s);
  const Chunks source{.count = 2000, .per_block = 100};
  ps::testing::StatisticsResource memory(ps::host_memory());
  {
    const std::size_t limit = 4 * 3232;
    // Blocks are in use for a while, also those that are to go.
    const auto slow = [](ps::Sample&, ps::Context& context) {
      if (context.rng().below(4) == 0) std::this_thread::sleep_for(300us);
    };
    ps::Loader loader(ps::from(source) | ps::shuffle({.seed = 9}) | slow | ps::batch(10),
                      {.threads = 4, .max_block_bytes = limit, .host_memory = &memory, .epochs = 1});
    const std::size_t before = memory.used();
    for (const ps::Batch& b : loader.epoch()) check_values(source, b);
    CHECK(memory.peak() <= before + limit);
    CHECK(source.decodes() > 4 * source.blocks());  // it was tight
  }
  CHECK(memory.used() == 0);
}

TEST_CASE("a record whose blocks don't fit is a bad sample, and so is each one of a damaged block") {
  const Watchdog dog(60s);
  const Chunks large{.count = 40, .per_block = 10, .spanning = 7};
  ps::Loader loader(ps::from(large) | ps::batch(4), {.threads = 2, .max_block_bytes = 400});
  const auto error = error_of([&] { (void)loader.next(); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::limit_exceeded);
  CHECK(error->index() == 0u);  // it spans two
  CHECK(std::string(error->what()).find("block_bytes") != std::string::npos);

  // One that can do without them is made of parts.
  const Chunks in_parts{.count = 40, .per_block = 10, .spanning = 7, .spare = true};
  ps::Loader small(ps::from(in_parts) | ps::batch(4), {.threads = 2, .max_block_bytes = 400, .epochs = 1});
  for (const ps::Batch& b : small.epoch()) check_values(in_parts, b);
  CHECK(in_parts.shared->parts > 0);

  const Chunks damaged{.count = 40, .per_block = 4};
  damaged.shared->faults[2] = Fault::corrupt;
  damaged.shared->faults[7] = Fault::standard;
  const ps::Pipeline p = ps::from(damaged) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(5);
  for (const unsigned threads : {1u, 3u}) {
    damaged.shared->loads.clear();
    ps::Loader masked(p, {.threads = threads, .epochs = 1});
    for (const ps::Batch& b : masked.epoch())
      for (std::size_t r = 0; r < b.size(); ++r) {
        const std::uint64_t block = b.indices()[r] / 4;
        CHECK(b.mask()[r] == (block == 2 || block == 7 ? 0 : 1));
      }
    CHECK(masked.report().errors == 8);
    CHECK(damaged.shared->loads[2] == 1);
  }
  // No one knew of a stand-in before: its reader finds its blocks.
  const ps::Pipeline replaced =
      ps::from(damaged) | ps::seed(3) | ps::on_error({.policy = ps::OnError::replace}) | ps::batch(5);
  const std::vector<Got> one = collect(replaced, {.threads = 1}, 2);
  CHECK(collect(replaced, {.threads = 3}, 2) == one);
  for (const Got& got : one)
    for (const std::uint64_t index : got.indices) CHECK((index / 4 != 2 && index / 4 != 7));
  ps::Loader fails(ps::from(damaged) | ps::batch(5), {.threads = 2});
  REQUIRE(fails.next());
  const auto first = error_of([&] { (void)fails.next(); });
  REQUIRE(first);
  CHECK(first->index() == 8u);
  CHECK(first->key() == "row 8");
  CHECK(first->stage() == "read");
}

TEST_CASE("one record of many blocks is the work of several runners") {
  const Watchdog dog(60s);
  struct Mosaic {
    Meeting* together;
    std::uint64_t size() const { return 1; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {16}}}; }
    std::uint64_t blocks() const { return 16; }
    std::uint64_t block_bytes(std::uint64_t) const { return 1; }
    void blocks_of(std::uint64_t, std::vector<std::uint64_t>& ids) const {
      for (std::uint64_t b = 0; b < 16; ++b) ids.push_back(b);
    }
    void load(std::uint64_t b, std::span<std::byte> bytes) const {
      together->attend();
      bytes[0] = static_cast<std::byte>(b);
    }
    void read(std::uint64_t, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
      auto x = out.emplace<std::uint8_t, 1>(0, {16});
      for (std::size_t b = 0; b < 16; ++b) x.data()[b] = static_cast<std::uint8_t>(blocks[b][0]);
    }
  };
  Meeting together(2);
  ps::Loader loader(ps::from(Mosaic{&together}) | ps::batch(1), {.threads = 2, .epochs = 1});
  auto b = loader.next();
  REQUIRE(b);
  for (std::int64_t i = 0; i < 16; ++i) CHECK(b->view<std::uint8_t, 2>("x")(0, i) == i);
  CHECK(together.complete());
}

TEST_CASE("blocks are read outside a loader as well") {
  const Chunks source{.count = 50, .per_block = 4, .spanning = 3};
  CHECK(ps::read_sample(source, 9)["x"].as<const std::uint64_t, 1>()(3) == source.x_of(9, 3));
  const ps::Pipeline p = ps::from(source) | ps::batch(4);
  CHECK(p.at(9)["x"].as<const std::uint64_t, 1>()(3) == source.x_of(9, 3));
  const ps::Pipeline joined = ps::from(ps::concat({source, source})) | ps::batch(10);
  ps::Loader loader(joined, {.threads = 2, .epochs = 1});
  std::uint64_t at = 0;
  for (const ps::Batch& b : loader.epoch())
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(b.size()); ++r, ++at)
      CHECK(b.view<std::uint64_t, 2>("x")(r, 3) == source.x_of(at % 50, 3));
  CHECK(at == 100);
}

TEST_CASE("a loop that is left, or stopped, in the middle of decoding goes on where it was") {
  const Watchdog dog(60s);
  const Chunks source{.count = 400, .per_block = 16, .spanning = 5};
  source.shared->before_load = [](std::uint64_t) { std::this_thread::sleep_for(200us); };
  const ps::Pipeline p = ps::from(source) | ps::shuffle({.seed = 2}) | ps::batch(8);
  const std::vector<Got> all = collect(p, {.threads = 2}, 4);
  ps::Loader loader(p, {.threads = 3, .max_block_bytes = 4000});
  for (std::uint64_t e = 0; e < 4; ++e) {
    std::size_t n = 0;
    for (const ps::Batch& b : loader.epoch()) {
      REQUIRE(copy(b) == all[e * 50 + n]);
      if (++n == 3 + 5 * e) break;
    }
  }
  loader.stop();
  CHECK_FALSE(loader.next());
  for (int i = 0; i < 20; ++i) {
    ps::Loader brief(p, {.threads = 2, .max_block_bytes = 3000});
    if (i % 2 == 0) REQUIRE(brief.next());
  }
}

TEST_CASE("an order that fails while it is looked ahead spoils no sample before it") {
  const Watchdog dog(60s);
  struct FailsOnce {
    std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
    int at = 0;
    bool for_ever = false;
    std::uint64_t size(std::uint64_t n) const { return n; }
    std::string name() const { return "fails_once"; }
    std::string describe() const { return ""; }
    void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint> points) const {
      for (const ps::OrderPoint& p : points)
        if (for_ever && p.position >= 200) throw ps::Error(ps::Errc::io, "no more");
      if (!for_ever && ++*calls == at) throw std::bad_alloc();
    }
  };
  const Chunks source{.count = 1000, .per_block = 10};
  const auto keeps = [](const ps::Sample&) { return true; };
  for (const bool reordered : {false, true})
    for (int at = 1; at < 12; ++at) {
      ps::Pipeline p = ps::from(source) | FailsOnce{.at = at, .for_ever = at == 1};
      if (reordered) p = p | ps::filter(keeps);
      ps::Loader loader(p | ps::batch(10), {.threads = 2, .epochs = 1});
      std::uint64_t rows = 0;
      try {
        for (const ps::Batch& b : loader.epoch()) {
          check_values(source, b);
          rows += b.size();
        }
      } catch (const ps::Error&) {
      }
      if (at == 1) CHECK(rows == 200);
    }
}

TEST_CASE("a block whose size can't be told, or is more than there is, is a bad sample and no more") {
  const Watchdog dog(60s);
  struct Sizes {
    Chunks source;
    std::uint64_t bad;
    std::uint64_t size() const { return source.size(); }
    ps::Schema schema() const { return source.schema(); }
    std::uint64_t blocks() const { return source.blocks(); }
    std::uint64_t block_bytes(std::uint64_t b) const {
      if (b != 5) return source.block_bytes(b);
      if (bad == 0) throw ps::Error(ps::Errc::corrupt, "a size that is none");
      return bad;
    }
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { source.blocks_of(i, ids); }
    void load(std::uint64_t b, std::span<std::byte> bytes) const { source.load(b, bytes); }
    void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
      if (blocks.empty()) throw ps::Error(ps::Errc::invalid_argument, "no blocks were given");
      source.read(i, blocks, out);
    }
  };
  for (const std::uint64_t bad : {std::uint64_t{0}, ~std::uint64_t{0} - 319, ~std::uint64_t{0}}) {
    const Sizes source{{.count = 200, .per_block = 10, .spanning = 5}, bad};
    ps::Loader loader(ps::from(source) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(10),
                      {.threads = 2, .epochs = 1});
    std::uint64_t masked = 0, rows = 0;
    for (const ps::Batch& b : loader.epoch())
      for (std::size_t r = 0; r < b.size(); ++r) {
        ++rows;
        masked += b.mask()[r] == 0;
      }
    CHECK(rows == 200);
    CHECK(masked == 12);  // ten in the block, and two that span into it
  }
}

TEST_CASE("a batch that is held keeps its ring, and no blocks") {
  const Chunks source{.count = 5000, .per_block = 500};
  ps::testing::StatisticsResource memory(ps::host_memory());
  ps::Batch held;
  {
    ps::Loader loader(ps::from(source) | ps::batch(10), {.threads = 2, .depth = 2, .host_memory = &memory});
    held = std::move(*loader.next());
  }
  CHECK(memory.used() <= 2 * 512);
  check_values(source, held);
}

TEST_CASE("of records of many blocks fewer are in sight, the same ones at any number of threads") {
  const Watchdog dog(60s);
  struct Wide {
    std::shared_ptr<std::atomic<std::uint64_t>> loads = std::make_shared<std::atomic<std::uint64_t>>(0);
    std::uint64_t size() const { return 600; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {1}}}; }
    std::uint64_t blocks() const { return 10'000; }
    std::uint64_t block_bytes(std::uint64_t) const { return 16; }
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
      for (std::uint64_t k = 0; k < 100; ++k) ids.push_back((i * 37 + k * k) % 10'000);
    }
    void load(std::uint64_t, std::span<std::byte> bytes) const {
      ++*loads;
      std::ranges::fill(bytes, std::byte{1});
    }
    void read(std::uint64_t, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
      out.view(0, blocks[0].data(), {1});
    }
  };
  std::set<std::uint64_t> seen;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const Wide source;
    ps::Loader loader(ps::from(source) | ps::shuffle({.seed = 1}) | ps::batch(5),
                      {.threads = threads, .depth = 2, .max_block_bytes = 16 * 3000, .epochs = 2});
    for (int epoch = 0; epoch < 2; ++epoch)
      for (const ps::Batch& b : loader.epoch()) CHECK(b.size() == 5);
    seen.insert(*source.loads);
  }
  CHECK(seen.size() == 1);
}

TEST_CASE("a block that can be done without and can't be loaded spoils no record, whatever the memory") {
  const Watchdog dog(60s);
  const Chunks source{.count = 400, .per_block = 8, .spare = true};
  for (const std::uint64_t b : {3u, 7u, 9u, 11u}) source.shared->faults[b] = Fault::corrupt;
  const ps::Pipeline p =
      ps::from(source) | ps::shuffle({.seed = 3}) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(16);
  for (const std::size_t bytes : {std::size_t{2000}, std::size_t{20'000}, std::size_t{4} << 20}) {
    ps::Loader loader(p, {.threads = 2, .max_block_bytes = bytes, .epochs = 1});
    std::uint64_t masked = 0;
    for (const ps::Batch& b : loader.epoch())
      for (std::size_t r = 0; r < b.size(); ++r) {
        CHECK((b.mask()[r] == 0) == (b.indices()[r] / 8 == 9));  // the only one of them that is needed whole
        masked += b.mask()[r] == 0;
      }
    CHECK(masked == 8);
  }
  CHECK(ps::from(source).at(3 * 8 + 1)["x"].as<const std::uint64_t, 1>()(0) == source.x_of(25, 0));
}

TEST_CASE("of blocks that are rarely needed again, records make their own parts") {
  const Watchdog dog(60s);
  // Far more blocks than records in sight share.
  const Chunks source{.count = 200'000, .per_block = 4, .spare = true};
  const ps::Pipeline p = ps::from(source) | ps::shuffle({.seed = 8}) | ps::take(20'000) | ps::batch(50);
  ps::Loader loader(p, {.threads = 3, .max_block_bytes = 100 * 160, .epochs = 1});
  for (const ps::Batch& b : loader.epoch()) check_values(source, b);
  // Each record uses its block: a fifth of them has to be decoded.
  CHECK(source.shared->parts > 13'000);
  CHECK(source.decodes() < 6'000);
  // In order, all of a block's records are in sight.
  source.shared->loads.clear();
  source.shared->parts = 0;
  ps::Loader in_order(ps::from(source) | ps::take(20'000) | ps::batch(50),
                      {.threads = 3, .max_block_bytes = 100 * 160, .epochs = 1});
  for (const ps::Batch& b : in_order.epoch()) check_values(source, b);
  CHECK(source.decodes() == 5000);
  CHECK(source.shared->parts == 0);
}

TEST_CASE("ranks that the shuffle knows of decode together what one rank does") {
  const Watchdog dog(60s);
  const Chunks source{.count = 8000, .per_block = 20};
  const auto decodes = [&](std::uint64_t ranks) {
    source.shared->loads.clear();
    const ps::Pipeline p =
        ps::from(source) | ps::shuffle({.seed = 2, .blocks = true, .window_blocks = 4, .ranks = ranks}) | ps::batch(40);
    for (int rank = 0; rank < 4; ++rank) {
      ps::Loader loader(p | ps::for_rank({.rank = rank, .world = 4}),
                        {.threads = 2, .max_block_bytes = 9000, .epochs = 1});
      for (const ps::Batch& b : loader.epoch()) check_values(source, b);
    }
    return source.decodes();
  };
  CHECK(decodes(1) > 3 * source.blocks());
  CHECK(decodes(4) <= source.blocks() + 3 * 4);
}

TEST_CASE("plan counts decodes, and parts, as a loader makes them") {
  const Watchdog dog(60s);
  // Records as tiles off a grid: each touches four of 64 x 64 blocks of 1 MiB. Nothing of them is looked at.
  struct Tiles {
    struct Counts {
      std::atomic<std::uint64_t> loads{0}, parts{0};
    };
    bool spare = false;
    std::shared_ptr<Counts> counts = std::make_shared<Counts>();
    std::uint64_t size() const { return 63 * 63; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {1}}}; }
    std::uint64_t blocks() const { return 64 * 64; }
    std::uint64_t block_bytes(std::uint64_t) const { return 1u << 20; }
    bool can_do_without(std::uint64_t) const { return spare; }
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
      const std::uint64_t first = i / 63 * 64 + i % 63;
      for (const std::uint64_t b : {first, first + 1, first + 64, first + 65}) ids.push_back(b);
    }
    void load(std::uint64_t, std::span<std::byte>) const { ++counts->loads; }
    void read(std::uint64_t, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
      for (const auto& block : blocks) counts->parts += block.empty() ? 1 : 0;
      out.emplace<std::uint8_t, 1>("x", {1})(0) = 1;
    }
  };
  const auto number_after = [](const std::string& plan, const char* before) {
    const std::size_t at = plan.find(before);
    INFO(plan);
    REQUIRE(at != std::string::npos);
    return std::stod(plan.substr(at + std::string(before).size()));
  };
  for (const bool spare : {false, true}) {
    for (const bool narrow : {false, true}) {
      const Tiles source{.spare = spare};
      ps::Pipeline order = ps::from(source) | ps::shuffle();
      if (narrow) order = order | ps::take(2000);
      const ps::Pipeline p = order | ps::batch(8);
      ps::Loader loader(p, {.threads = 1, .epochs = 1});
      while (loader.next()) {
      }
      const std::string plan = p.plan();
      CAPTURE(spare, narrow, plan);
      const auto records = static_cast<double>(p.size());
      const double loads = static_cast<double>(source.counts->loads) / records;
      const double parts = static_cast<double>(source.counts->parts) / records;
      CHECK(loads > 0);
      CHECK((parts > 0) == spare);
      CHECK(number_after(plan, "this order loads ") == Approx(loads).epsilon(0.06));
      if (spare) CHECK(number_after(plan, "and parts of ") == Approx(parts).epsilon(0.06));
    }
  }
}

TEST_CASE("plan looks at few records where each has thousands of blocks") {
  struct Wide {
    std::shared_ptr<std::atomic<std::uint64_t>> asked = std::make_shared<std::atomic<std::uint64_t>>(0);
    std::uint64_t size() const { return 100'000; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {1}}}; }
    std::uint64_t blocks() const { return 110'000; }
    std::uint64_t block_bytes(std::uint64_t) const { return 8192; }
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
      ++*asked;
      for (std::uint64_t b = 0; b < 4096; ++b) ids.push_back(i + b);
    }
    void load(std::uint64_t, std::span<std::byte>) const {}
    void read(std::uint64_t, std::span<const std::span<const std::byte>>, ps::SampleBuilder&) const {}
  };
  const Wide source;
  CHECK((ps::from(source) | ps::shuffle()).plan().find("blocks  110000 that records share") != std::string::npos);
  CHECK(*source.asked > 0);
  CHECK(*source.asked < 200);
}

TEST_CASE("plan says what an order of blocks costs") {
  // 2,000 blocks of 1 MiB, ten records each; nothing of them is read.
  struct Large {
    std::uint64_t size() const { return 20'000; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {1}}}; }
    std::uint64_t blocks() const { return 2000; }
    std::uint64_t block_bytes(std::uint64_t) const { return 1u << 20; }
    std::vector<std::uint64_t> block_ends() const {
      std::vector<std::uint64_t> ends;
      for (std::uint64_t b = 1; b <= 2000; ++b) ends.push_back(10 * b);
      return ends;
    }
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i / 10); }
    void load(std::uint64_t, std::span<std::byte>) const {}
    void read(std::uint64_t, std::span<const std::span<const std::byte>>, ps::SampleBuilder&) const {}
  };
  const ps::Pipeline source = ps::from(Large{});
  const auto says = [](const ps::Pipeline& p, const char* text) { return p.plan().find(text) != std::string::npos; };
  CHECK(says(source | ps::batch(8), "loads each about once an epoch"));
  CHECK(says(source | ps::shuffle({.blocks = true}), "loads each about once an epoch"));
  // 512 of the blocks stay: of those that are needed again first.
  CHECK(says(source | ps::shuffle(), " times the work. shuffle({.blocks = true}), of few blocks at a time"));
  // More of a window than stays.
  CHECK(says(source | ps::shuffle({.blocks = true, .window_blocks = 1500}),
             "times the work. shuffle({.blocks = true}), of few blocks at a time"));
  CHECK((source | ps::take(0)).plan().find("blocks  2000") != std::string::npos);
  const Chunks few{.count = 100};
  CHECK(ps::from(few).plan().find("each is loaded once") != std::string::npos);
  // However many there are.
  struct Endless {
    std::uint64_t size() const { return std::uint64_t{1} << 40; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {1}}}; }
    std::uint64_t blocks() const { return std::uint64_t{1} << 38; }
    std::uint64_t block_bytes(std::uint64_t) const { return 1u << 20; }
    void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i / 4); }
    void load(std::uint64_t, std::span<std::byte>) const {}
    void read(std::uint64_t, std::span<const std::span<const std::byte>>, ps::SampleBuilder&) const {}
  };
  CHECK(says(ps::from(Endless{}) | ps::batch(8), "loads each about once an epoch"));
  const ps::Pipeline shuffled = ps::from(Endless{}) | ps::shuffle() | ps::batch(8);
  INFO(shuffled.plan());
  CHECK(says(shuffled, "loads 1 a record, in order it is 0.25: 4 times"));
}
