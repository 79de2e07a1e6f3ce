// SPDX-License-Identifier: Apache-2.0
// What a runner does next: which loads may begin, which samples can be made, and whose stretch of them.
#include "blocks/block_queue.hpp"

#include <cstdint>
#include <memory>

#include "blocks/work_stretches.hpp"
#include "support/catch.hpp"

using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

// The choice of a runner that knows no block.
std::uint64_t choose(WorkStretches& stretches, std::uint64_t& held) {
  return stretches.choose(held, [](std::uint64_t) { return std::size_t{0}; });
}

}  // namespace

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
  CHECK(choose(stretches, one) == 0);
  CHECK(choose(stretches, other) == 1);
  for (std::uint64_t sample = 0; sample < 4; ++sample) {
    CHECK(choose(stretches, one) == 0);
    stretches.remove(sample);
  }
  CHECK(choose(stretches, one) == 2);
  CHECK(choose(stretches, other) == 1);
  CHECK(choose(stretches, third) == 1);  // the first that another holds
  CHECK(third == none);
  stretches.add(0);
  CHECK(choose(stretches, other) == 1);
  CHECK(choose(stretches, third) == 0);  // what comes back to a stretch is anybody's
  CHECK(third == 0);
  stretches.remove(0);
  stretches.leave(other);
  CHECK(choose(stretches, third) == 1);
  CHECK(third == 1);
  stretches.leave(one);
  stretches.leave(third);
  for (std::uint64_t sample = 4; sample < 12; ++sample) {
    CHECK(choose(stretches, one) == sample / 4);
    stretches.remove(sample);
  }
  CHECK_FALSE(stretches.has_work());
  CHECK(choose(stretches, one) == none);
  CHECK(one == none);
}

TEST_CASE("a runner that holds a stretch finds nothing of the one that has its place") {
  WorkStretches stretches(4, 1);  // of one sample; numbers 6 apart have one place
  REQUIRE(stretches.length() == 1);
  std::uint64_t one = WorkStretches::none, other = one;
  stretches.add(3);
  CHECK(choose(stretches, one) == 3);
  stretches.remove(3);
  stretches.add(9);
  stretches.add(10);
  CHECK(choose(stretches, other) == 9);
  CHECK(choose(stretches, one) == 10);
  stretches.remove(10);
  stretches.leave(one);
  CHECK(choose(stretches, one) == 9);
  CHECK(one == WorkStretches::none);
}

TEST_CASE("a runner takes the stretch that it knows best, and the first one all the same after a while") {
  WorkStretches stretches(16, 2);  // of one sample
  REQUIRE(stretches.length() == 1);
  for (std::uint64_t sample = 0; sample < 12; ++sample) stretches.add(sample);
  std::uint64_t one = WorkStretches::none;
  const auto next = [&](std::uint64_t known) {
    const std::uint64_t chosen =
        stretches.choose(one, [&](std::uint64_t stretch) -> std::size_t { return stretch == known ? 1 : 0; });
    stretches.remove(chosen);
    return chosen;
  };
  CHECK(next(3) == 3);
  CHECK(next(11) == 0);  // it is not among the first few
  CHECK(next(5) == 5);
  CHECK(next(6) == 6);
  CHECK(next(7) == 1);  // two were preferred to it
  CHECK(next(7) == 7);
  CHECK(next(99) == 2);
}
