// The plan alone: which blocks it loads and lets go for one sample after the other.
#include "blocks/block_plan.hpp"

#include "blocks/block_memory.hpp"
#include "blocks/block_queue.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include <penstock/detail/source_adapter.hpp>

#include "core/blocks/chunks.hpp"
#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;

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
    BlockPlan::Sample sample;
    if (!plan.next(1, sample)) return "none";
    std::string out;
    for (const std::uint64_t block : sample.evicted) out += "-" + std::to_string(block);
    for (const BlockPlan::Need& need : sample.needs) out += (need.loads ? "+" : "=") + std::to_string(need.block);
    return sample.too_large != 0 ? "too large: " + std::to_string(sample.too_large) : out;
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

TEST_CASE("loads come in the order of samples, and a sample when nothing of it is missing") {
  BlockQueue queue(8, 1);
  std::uint64_t held = WorkStretches::none;
  const auto load_for = [&](std::uint64_t number) {
    auto load = std::make_shared<Residency>();
    load->first_user = number;
    queue.add(load);
    queue.wait_for(number, *load);
    return load;
  };
  queue.begin(0);
  queue.finish(0);
  queue.begin(1);
  const auto a = load_for(1), b = load_for(1);
  queue.finish(1);
  BlockQueue::Work work = queue.take(held);
  CHECK(work.sample == 0u);
  CHECK(!queue.has_work());
  CHECK(!queue.take(held));
  REQUIRE(queue.next_load() == a.get());
  queue.let_begin();
  REQUIRE(queue.next_load() == b.get());
  work = queue.take(held);
  CHECK(work.load == a);
  CHECK(!queue.take(held));  // the other may not begin
  queue.let_begin();
  CHECK(queue.next_load() == nullptr);
  work = queue.take(held);
  CHECK(work.load == b);
  b->done = true;
  queue.loaded(*b);
  CHECK(!queue.has_work());
  a->done = true;
  queue.loaded(*a);
  REQUIRE(queue.has_work());
  CHECK(queue.take(held).sample == 1u);
  CHECK(!queue.take(held));
}

TEST_CASE("a runner goes on with its stretch of samples, and with others' where there is no other work") {
  constexpr auto none = WorkStretches::none;
  WorkStretches stretches(64, 2);  // 4 samples each
  REQUIRE(stretches.length() == 4);
  for (std::uint64_t sample = 0; sample < 12; ++sample) stretches.add(sample);
  std::uint64_t one = none, other = none, third = none;
  CHECK(stretches.choose(one) == 0);
  CHECK(stretches.choose(other) == 1);
  for (std::uint64_t sample = 0; sample < 4; ++sample) {
    CHECK(stretches.choose(one) == 0);
    stretches.remove(sample);
  }
  CHECK(stretches.choose(one) == 2);
  CHECK(stretches.choose(other) == 1);
  CHECK(stretches.choose(third) == 1);  // the first that another holds
  CHECK(third == none);
  stretches.add(0);
  CHECK(stretches.choose(other) == 1);
  CHECK(stretches.choose(third) == 0);  // what comes back to a stretch is anybody's
  CHECK(third == 0);
  stretches.remove(0);
  stretches.leave(other);
  CHECK(stretches.choose(third) == 1);
  CHECK(third == 1);
  stretches.leave(one);
  stretches.leave(third);
  for (std::uint64_t sample = 4; sample < 12; ++sample) {
    CHECK(stretches.choose(one) == sample / 4);
    stretches.remove(sample);
  }
  CHECK_FALSE(stretches.has_work());
  CHECK(stretches.choose(one) == none);
  CHECK(one == none);
}

TEST_CASE("a runner that holds a stretch finds nothing of the one that has its place") {
  WorkStretches stretches(4, 1);  // of one sample; numbers 6 apart have one place
  REQUIRE(stretches.length() == 1);
  std::uint64_t one = WorkStretches::none, other = one;
  stretches.add(3);
  CHECK(stretches.choose(one) == 3);
  stretches.remove(3);
  stretches.add(9);
  stretches.add(10);
  CHECK(stretches.choose(other) == 9);
  CHECK(stretches.choose(one) == 10);
  stretches.remove(10);
  stretches.leave(one);
  CHECK(stretches.choose(one) == 9);
  CHECK(one == WorkStretches::none);
}

TEST_CASE("memory for blocks is used again, and what is beyond the limit goes back") {
  ps::StatisticsResource resource(ps::host_memory());
  std::mutex mutex;
  {
    BlockMemory memory(1000, resource);
    CHECK(memory.has_room_for(1000));
    CHECK(!memory.has_room_for(1001));
    memory.reserve(600);
    CHECK(!memory.has_room_for(401));
    std::byte* const first = memory.take(600, mutex);
    memory.give_back(first, 600);
    CHECK(memory.used() == 0);
    memory.reserve(600);
    CHECK(memory.take(600, mutex) == first);
    CHECK(resource.allocations() == 1);
    memory.give_back(first, 600);
    memory.reserve(700);
    std::byte* const other = memory.take(700, mutex);  // 600 spare bytes and these are more than there may be
    CHECK(resource.used() == 700);
    memory.give_back(other, 700);
  }
  CHECK(resource.used() == 0);
}
