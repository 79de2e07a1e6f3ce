// SPDX-License-Identifier: Apache-2.0
// The plan alone: which blocks it loads and lets go for one sample after the other.
#include "blocks/block_plan.hpp"

#include "blocks/block_memory.hpp"

#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include <penstock/detail/source_adapter.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "core/blocks/chunks.hpp"
#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

// Records that each need one block of 100 bytes, of their own number / 2; records from 100 on need blocks 0 and 1.
struct Pairs {
  std::uint64_t size() const { return 200; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {1}}}; }
  std::uint64_t blocks() const { return 50; }
  std::uint64_t block_bytes(std::uint64_t) const { return 100; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
    if (i < 100)
      ids.push_back(i / 2);
    else
      ids.insert(ids.end(), {1, 0, 1});
  }
  void load(std::uint64_t, std::span<std::byte>) const {}
  void read(std::uint64_t, std::span<const std::span<const std::byte>>, ps::SampleBuilder&) const {}
};

struct Planned {
  explicit Planned(std::size_t limit, std::vector<std::uint64_t> order, std::uint64_t ahead = 100)
      : model(std::make_shared<BlockSourceOf<Pairs>>(Pairs{})), plan(*model->block_model(), limit, ahead, {}) {
    begin(std::move(order));
  }
  void begin(std::vector<std::uint64_t> order, const std::function<bool(std::uint64_t)>& keeps = {}) {
    plan.reset(
        [order = std::move(order), given = false](std::vector<std::uint64_t>& out) mutable {
          if (!std::exchange(given, true)) out = order;
        },
        keeps ? keeps : [](std::uint64_t) { return true; });
    plan.prepare(1000);
  }
  // "+3" for a block that is loaded, "-3" for one that goes, "=3" for one that is there.
  std::string next() {
    BlockPlan::SamplePlan sample;
    if (!plan.next(1, sample)) return "none";
    std::string out;
    for (const std::uint64_t block : sample.evicted) out += "-" + std::to_string(block);
    for (const BlockPlan::Need& need : sample.needs) out += (need.loads ? "+" : "=") + std::to_string(need.block);
    return sample.too_large != 0 ? "too large: " + std::to_string(sample.too_large) : out;
  }

  // Of all samples that are left.
  std::uint64_t loads() {
    std::uint64_t count = 0;
    for (BlockPlan::SamplePlan sample; plan.next(1, sample);) {
      for (const BlockPlan::Need& need : sample.needs) count += need.loads ? 1 : 0;
      plan.prepare(100);
    }
    return count;
  }

  std::shared_ptr<BlockSourceOf<Pairs>> model;
  BlockPlan plan;
};

}  // namespace

TEST_CASE("a plan of blocks loads each once while there is room") {
  Planned p(1000, {0, 1, 2, 3, 0});
  CHECK(p.next() == "+0");
  CHECK(p.next() == "=0");
  CHECK(p.next() == "+1");
  CHECK(p.next() == "=1");
  CHECK(p.next() == "=0");
  CHECK(p.next() == "none");
}

TEST_CASE("the block goes whose next use is farthest, and of those without one the one that was used longest ago") {
  Planned p(200, {0, 2, 4, 0, 6, 8});
  CHECK(p.next() == "+0");
  CHECK(p.next() == "+1");
  CHECK(p.next() == "-1+2");  // block 0 is needed once more
  CHECK(p.next() == "=0");
  CHECK(p.next() == "-2+3");  // neither is needed again: block 2 was used before block 0
  CHECK(p.next() == "-0+4");
}

TEST_CASE("what a sample needs itself never makes room for it") {
  Planned p(200, {2, 100, 4, 100});
  CHECK(p.next() == "+1");
  CHECK(p.next() == "+0=1");
  static_cast<void>(p.next());        // block 2, which takes the room of block 0 or 1
  const std::string last = p.next();  // takes that of block 2, not that of the one that is still there
  CHECK((last == "-2+0=1" || last == "-2=0+1"));
}

TEST_CASE("a sample that needs more than there is needs nothing of the others") {
  Planned p(100, {2, 100, 3});
  CHECK(p.next() == "+1");
  CHECK(p.next() == "too large: 200");
  CHECK(p.next() == "=1");
}

TEST_CASE("more memory keeps more blocks from then on, and a record that was too large stays so") {
  Planned p(200, {0, 2, 4, 0, 100, 2, 4, 100, 0});
  CHECK(p.next() == "+0");
  CHECK(p.next() == "+1");
  CHECK(p.next() == "-1+2");
  p.plan.raise_limit(500);
  CHECK(p.next() == "=0");
  CHECK(p.next() == "=0+1");
  CHECK(p.next() == "=1");
  CHECK(p.next() == "=2");
  Planned small(100, {2, 100, 3, 0, 2});
  CHECK(small.next() == "+1");
  small.plan.raise_limit(1000);
  CHECK(small.next() == "too large: 200");
  CHECK(small.next() == "=1");
  CHECK(small.next() == "+0");
  CHECK(small.next() == "=1");
}

TEST_CASE("a plan that begins again keeps the blocks that may stay") {
  Planned p(1000, {0, 2, 4});
  for (int i = 0; i < 3; ++i) static_cast<void>(p.next());
  p.begin({0, 2, 4}, [](std::uint64_t block) { return block != 1; });
  CHECK(p.plan.has(0));
  CHECK(!p.plan.has(1));
  CHECK(p.next() == "=0");
  CHECK(p.next() == "+1");
  CHECK(p.next() == "=2");
}

TEST_CASE("memory for blocks is used again, and what is beyond the limit goes back") {
  ps::testing::StatisticsResource resource(ps::host_memory());
  std::mutex mutex;
  const int one = 0, other_one = 0;  // runners
  {
    BlockMemory memory(1000, resource);
    CHECK(memory.has_room_for(1000));
    CHECK(!memory.has_room_for(1001));
    memory.reserve(600);
    CHECK(!memory.has_room_for(401));
    std::byte* const first = memory.take(600, &one, mutex);
    memory.give_back(first, 600, &one);
    CHECK(memory.used() == 0);
    memory.reserve(600);
    CHECK(memory.take(600, &one, mutex) == first);
    CHECK(resource.allocations() == 1);
    memory.give_back(first, 600, &one);
    memory.reserve(700);
    std::byte* const other = memory.take(700, &one, mutex);  // 600 spare bytes and these are more than there may be
    CHECK(resource.used() == 700);
    memory.give_back(other, 700, &one);
    for (int n = 0; n < 3; ++n) memory.reserve(200);
    std::byte* const mine = memory.take(200, &one, mutex);
    std::byte* const its = memory.take(200, &other_one, mutex);
    std::byte* const last = memory.take(200, &other_one, mutex);
    memory.give_back(mine, 200, &one);
    memory.give_back(its, 200, &other_one);
    memory.give_back(last, 200, &other_one);
    for (int n = 0; n < 3; ++n) memory.reserve(200);
    CHECK(memory.take(200, &one, mutex) == mine);  // what had a block of the same runner comes first
    CHECK(memory.take(200, &one, mutex) == last);  // then what was left last
    CHECK(memory.take(200, &other_one, mutex) == its);
    for (std::byte* const data : {mine, its, last}) memory.give_back(data, 200, &one);
  }
  CHECK(resource.used() == 0);
}

TEST_CASE("a plan knows how many loads twice the memory would save") {
  std::mt19937 random(1);
  const auto from = [&](int low, int high) { return low + static_cast<int>(random() % unsigned(high - low + 1)); };
  int saving = 0;
  for (int round = 0; round < 300; ++round) {
    // Some far apart, some beside each other, with what is seen of them ahead or not.
    const int blocks = from(2, 50), near = from(1, blocks);
    std::vector<std::uint64_t> order;
    int at = 0;
    for (int i = from(1, 600); i > 0; --i) {
      at = from(0, 3) == 0 ? from(0, blocks - 1) : (at + from(0, near - 1)) % blocks;
      order.push_back(static_cast<std::uint64_t>(2 * at + from(0, 1)));
    }
    const auto memory = static_cast<std::size_t>(100 * from(1, 30));
    const auto ahead = static_cast<std::uint64_t>(from(0, 1) == 0 ? from(0, 40) : 1000);
    Planned once(memory, order, ahead), twice(2 * memory, order, ahead);
    const std::uint64_t few = once.loads(), fewer = twice.loads();
    CAPTURE(round, blocks, memory, ahead);
    REQUIRE(once.plan.saved_by_double() == few - fewer);
    saving += few != fewer ? 1 : 0;
  }
  CHECK(saving > 100);
}

TEST_CASE("what a plan would keep in twice the memory is forgotten where it begins again") {
  Planned p(100, {0, 2, 0});
  CHECK(p.loads() == 3);
  CHECK(p.plan.saved_by_double() == 1);
  p.begin({2, 0});
  CHECK(p.loads() == 2);
  CHECK(p.plan.saved_by_double() == 2);  // block 0 was there when it began, and went for block 1
}
