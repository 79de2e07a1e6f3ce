// SPDX-License-Identifier: Apache-2.0
#include <penstock/testing/fail_after_resource.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "support/catch.hpp"

#include <cstring>
#include <mutex>

#include "core/help.hpp"
#include "ring/batch_ring.hpp"
#include "ring/tickets.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {
const ps::Schema schema{{"a", ps::DType::f32, {3}}, {"b", ps::DType::u8, {}}, {"none", ps::DType::u8, {0}}};
}

TEST_CASE("a buffer's rows don't overlap and are aligned") {
  ps::testing::StatisticsResource memory(ps::host_memory());
  {
    BatchRing ring(schema, 10, 3, memory);
    CHECK(ring.depth() == 3);
    CHECK(ring.layout().fields() == 3);
    CHECK(ring.layout().row()[0].row_bytes == 12);
    CHECK(ring.layout().row()[2].row_bytes == 0);
    CHECK(memory.allocations() == ring.allocations());
    CHECK(memory.used() == 3 * ring.layout().bytes());
    CHECK(ring.layout().bytes() == BatchLayout(schema, 10).bytes());
    BatchBuffer* buffer = ring.acquire();
    REQUIRE(buffer != nullptr);
    std::vector<std::pair<std::byte*, std::byte*>> rows;
    for (std::size_t f = 0; f < 2; ++f) {
      CHECK(reinterpret_cast<std::uintptr_t>(ring.address(*buffer, f, 0)) % 64 == 0);
      for (std::uint64_t r = 0; r < 10; ++r)
        rows.emplace_back(ring.address(*buffer, f, r), ring.address(*buffer, f, r) + ring.layout().row()[f].row_bytes);
    }
    std::ranges::sort(rows);
    for (std::size_t i = 1; i < rows.size(); ++i) CHECK(rows[i - 1].second <= rows[i].first);
    CHECK(rows.front().first >= buffer->data);
    CHECK(rows.back().second <= buffer->data + ring.layout().bytes());
  }
  CHECK(memory.used() == 0);
}

TEST_CASE("the last part of a buffer, and no other, makes it ready") {
  BatchRing ring(schema, 4, 2, ps::host_memory());
  BatchBuffer* buffer = ring.acquire();
  REQUIRE(buffer != nullptr);
  CHECK(buffer->state == BufferState::filling);
  buffer->left = 5;
  CHECK(ring.finish(*buffer, 1) == BatchRing::FinishResult::no);
  CHECK(ring.finish(*buffer, 3) == BatchRing::FinishResult::no);
  CHECK(buffer->state == BufferState::filling);
  CHECK(ring.finish(*buffer, 1) == BatchRing::FinishResult::ready);
  CHECK(buffer->state == BufferState::ready);
  ring.lease(*buffer);
  CHECK(buffer->state == BufferState::leased);
  CHECK(ring.free_count() == 1);
  ring.release(*buffer);
  CHECK(buffer->state == BufferState::free);
  CHECK(ring.free_count() == 2);
}

TEST_CASE("a buffer that is given up is free again, the ring runs out and refills") {
  BatchRing ring(schema, 4, 2, ps::host_memory());
  BatchBuffer* a = ring.acquire();
  BatchBuffer* b = ring.acquire();
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  CHECK(a != b);
  CHECK(ring.acquire() == nullptr);
  a->bad.push_back({0, ps::Error(ps::Errc::io, ""), false});
  a->broken = true;
  ring.release(*a);
  BatchBuffer* again = ring.acquire();
  CHECK(again == a);
  CHECK(again->bad.empty());  // nothing of its former life stays
  CHECK_FALSE(again->broken.load());
}

TEST_CASE("clearing a row clears that row") {
  BatchRing ring(schema, 4, 2, ps::host_memory());
  BatchBuffer* buffer = ring.acquire();
  std::memset(buffer->data, 0xee, ring.layout().bytes());
  ring.clear_row(*buffer, 2);
  for (std::size_t f = 0; f < ring.layout().fields(); ++f)
    for (std::uint64_t r = 0; r < 4; ++r)
      for (std::size_t i = 0; i < ring.layout().row()[f].row_bytes; ++i)
        CHECK(static_cast<int>(ring.address(*buffer, f, r)[i]) == (r == 2 ? 0 : 0xee));
}

TEST_CASE("buffers that get no memory give back what they had") {
  ps::testing::StatisticsResource counted(ps::host_memory());
  ps::testing::FailAfterResource failing(counted, 1, false);
  CHECK(error_of([&] { BatchRing ring(schema, 8, 4, failing); })->code() == ps::Errc::out_of_memory);
  CHECK(counted.used() == 0);
  const ps::Schema huge{{"x", ps::DType::f64, {std::int64_t{1} << 59}}};
  CHECK(error_of([&] { (void)BatchLayout(huge, 1 << 20); })->code() == ps::Errc::limit_exceeded);
}

TEST_CASE("many threads finish a buffer once") {
  BatchRing ring(schema, 4, 2, ps::host_memory());
  for (int round = 0; round < 300; ++round) {
    BatchBuffer* buffer = ring.acquire();
    buffer->left = 4;
    std::atomic<int> last{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] { last += ring.finish(*buffer, 1) == BatchRing::FinishResult::ready ? 1 : 0; });
    threads.clear();
    REQUIRE(last == 1);
    REQUIRE(buffer->state == BufferState::ready);
    ring.release(*buffer);
  }
}

TEST_CASE("every ticket is given once, in order, below the limit") {
  Tickets tickets(3);
  CHECK_FALSE(tickets.available());
  CHECK(tickets.take(1).count == 0);
  tickets.raise(3);
  CHECK(tickets.available());
  for (std::uint64_t i = 0; i < 3; ++i) {
    const TicketRun run = tickets.take(1);
    CHECK(run.count == 1);
    CHECK(run.first == i);
  }
  CHECK(tickets.take(1).count == 0);
  CHECK_FALSE(tickets.available());
  tickets.raise(6);
  CHECK(tickets.take(1).first == 3);
  tickets.reset();
  CHECK(tickets.take(1).count == 0);
  tickets.raise(3);
  CHECK(tickets.take(1).first == 0);
}

TEST_CASE("tickets taken together are of one batch, and leave some to others") {
  const auto next = [](Tickets& tickets, std::uint64_t most, std::uint64_t first, std::uint64_t count,
                       std::uint64_t shares = 2) {
    const TicketRun run = tickets.take(most, shares);
    CHECK(run.first == first);
    CHECK(run.count == count);
  };
  SECTION("to the one who waits for them and may help") {
    Tickets tickets(10);
    tickets.raise(20);
    next(tickets, 4, 0, 4);
    next(tickets, 16, 4, 6);  // not into the next batch
    next(tickets, 16, 10, 5);
    next(tickets, 16, 15, 2);
    for (std::uint64_t last = 17; last < 20; ++last) next(tickets, 16, last, 1);
    CHECK(tickets.take(16).count == 0);
  }
  SECTION("to three other threads") {
    Tickets tickets(100);
    tickets.raise(100);
    next(tickets, 50, 0, 12, 8);
    next(tickets, 8, 12, 8, 8);
    next(tickets, 50, 20, 10, 8);
    tickets.raise(200);
    next(tickets, 50, 30, 21, 8);
    next(tickets, 1, 51, 1, 8);
  }
}

TEST_CASE("tickets that are given back come first, one at a time, while there is room for them") {
  Tickets tickets(100, 2);
  tickets.raise(100);
  const TicketRun one = tickets.take(8), two = tickets.take(8), three = tickets.take(8);
  REQUIRE(three.first + three.count == 24);
  CHECK(tickets.give_back({one.first + 5, 3}));
  CHECK(tickets.give_back({two.first + 7, 1}));
  CHECK_FALSE(tickets.give_back({three.first + 1, 7}));
  for (const std::uint64_t ticket : {15, 5, 6, 7}) {
    const TicketRun run = tickets.take(8);
    CHECK(run.first == ticket);
    CHECK(run.count == 1);
  }
  CHECK(tickets.take(8).first == 24);
  while (tickets.take(8).count != 0) {
  }
  CHECK_FALSE(tickets.available());
  CHECK(tickets.give_back({99, 1}));
  CHECK(tickets.available());
  tickets.reset();
  CHECK_FALSE(tickets.available());
  CHECK(tickets.take(1).count == 0);
}

TEST_CASE("threads that take tickets, and give some back, while the limit rises miss none and share none") {
  Tickets tickets(10, 3);
  constexpr std::uint64_t n = 40'000;
  std::vector<std::atomic<int>> taken(n);
  std::atomic<std::uint64_t> count{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        while (count < n) {
          TicketRun run = tickets.take(1 + 3 * t);
          if (run.count > 2 && run.first % 3 == 0 && tickets.give_back({run.first + 1, run.count - 1})) run.count = 1;
          for (std::uint64_t i = run.first; i < run.first + run.count; ++i) ++taken[i];
          count += run.count;
          if (run.count == 0) std::this_thread::yield();
        }
      });
    for (std::uint64_t limit = 0; limit <= n; limit += 10) tickets.raise(limit);
  }
  for (const auto& t : taken)
    if (t != 1) FAIL("a ticket was taken " << t << " times");
  CHECK(count == n);
}

TEST_CASE("a ring grows and shrinks, while some of its batches are in use") {
  ps::testing::StatisticsResource memory(ps::host_memory());
  {
    std::mutex mutex;
    BatchRing ring(schema, 10, 2, memory, ~std::size_t{0}, nullptr, 5);
    const std::size_t each = ring.layout().bytes();
    CHECK(ring.depth() == 2);
    CHECK(ring.most() == 5);
    CHECK(memory.used() == 2 * each);
    std::vector<BatchBuffer*> used;
    const auto take_all = [&] {
      while (BatchBuffer* const buffer = ring.acquire()) used.push_back(buffer);
    };
    take_all();
    CHECK(used.size() == 2);
    ring.prepare_to_grow(4);
    ring.prepare_to_grow(4);
    CHECK(memory.used() == 4 * each);
    CHECK(ring.acquire() == nullptr);
    ring.set_depth(4);
    take_all();
    REQUIRE(used.size() == 4);
    for (const BatchBuffer* buffer : used) {
      CHECK(buffer->indices.size() == 10);
      std::memset(buffer->data, 7, each);
    }
    // Those beyond are in use: they go when they are let go.
    ring.set_depth(2);
    ring.trim(mutex);
    CHECK(memory.used() == 4 * each);
    ring.release(*used[3]);
    ring.release(*used[0]);
    CHECK(ring.free_count() == 1);
    ring.trim(mutex);
    CHECK(memory.used() == 3 * each);
    // One of them is still in use, and is one of the batches again.
    ring.prepare_to_grow(5);
    ring.set_depth(5);
    CHECK(memory.used() == 5 * each);
    CHECK(ring.free_count() == 3);
    for (const std::size_t i : {1, 2}) ring.release(*used[i]);
    CHECK(ring.free_count() == 5);
    ring.set_depth(0);
    ring.trim(mutex);
    CHECK(ring.depth() == 2);
    CHECK(ring.free_count() == 2);
    CHECK(memory.used() == 2 * each);
    // Without memory all is as before, and what was had is kept for the next time.
    ps::testing::FailAfterResource fails(memory, 3, true);
    BatchRing poor(schema, 10, 2, fails, ~std::size_t{0}, nullptr, 5);
    CHECK_THROWS_AS(poor.prepare_to_grow(5), ps::Error);
    CHECK(poor.depth() == 2);
    CHECK(poor.free_count() == 2);
  }
  CHECK(memory.used() == 0);
}

}  // namespace PENSTOCK_TEST_FILE
