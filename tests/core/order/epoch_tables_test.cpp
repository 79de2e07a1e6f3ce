// SPDX-License-Identifier: Apache-2.0
// Tables of orders, kept for a few epochs.
#include "support/catch.hpp"

#include "core/help.hpp"
#include "order/epoch_tables.hpp"

using namespace help;

namespace {

struct Table {
  std::uint64_t epoch = 0;
  std::size_t size = 0;
  std::size_t bytes() const { return size; }
};
using Tables = ps::detail::EpochTables<Table>;

struct Counted {
  Tables tables;
  std::size_t size = 8;
  std::atomic<int> builds{0};
  std::uint64_t operator()(std::uint64_t epoch, std::uint64_t seed = 1) {
    return tables.get({seed, epoch}, [&] { return ++builds, Table{epoch, size}; })->epoch;
  }
};

}  // namespace

TEST_CASE("an epoch's table is built once while it is in use") {
  Counted small;
  for (int round = 0; round < 100; ++round)
    for (std::uint64_t epoch = 0; epoch < Tables::max_entries; ++epoch) REQUIRE(small(epoch) == epoch);
  CHECK(small.builds == static_cast<int>(Tables::max_entries));
  // Another seed is another table.
  (void)small(0, 2);
  CHECK(small.builds == static_cast<int>(Tables::max_entries) + 1);
}

TEST_CASE("of large tables the last two used are kept") {
  Counted large;
  large.size = Tables::max_bytes;
  for (int round = 0; round < 50; ++round) REQUIRE((large(7) == 7 && large(8) == 8));
  CHECK(large.builds == 2);
  REQUIRE(large(9) == 9);
  REQUIRE(large(8) == 8);
  CHECK(large.builds == 3);
  REQUIRE(large(7) == 7);  // it had gone
  CHECK(large.builds == 4);
}

TEST_CASE("many epochs do not pile up") {
  Counted medium;
  medium.size = Tables::max_bytes / 8;
  for (std::uint64_t epoch = 0; epoch < 100; ++epoch) (void)medium(epoch);
  for (std::uint64_t epoch = 92; epoch < 100; ++epoch) (void)medium(epoch);
  CHECK(medium.builds == 100);
  (void)medium(91);
  CHECK(medium.builds == 101);
}

TEST_CASE("a table that is held lives on though it is forgotten") {
  Tables tables;
  const auto get = [&](std::uint64_t epoch) {
    return tables.get({0, epoch}, [&] { return Table{epoch, Tables::max_bytes}; });
  };
  const auto first = get(0);
  for (std::uint64_t epoch = 1; epoch < 10; ++epoch) (void)get(epoch);
  CHECK(first->epoch == 0);
  CHECK(first.use_count() == 1);
}

TEST_CASE("a table that could not be built is tried again") {
  Tables tables;
  CHECK_THROWS_AS(tables.get({0, 3}, []() -> Table { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK(tables.get({0, 3}, [] { return Table{3, 8}; })->epoch == 3);
}

TEST_CASE("threads that want one table build it once, and wait for no other") {
  Counted tables;
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> wrong{0};
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 5000; ++i) {
        const std::uint64_t epoch = mix(t + i) % 8;
        if (tables(epoch) != epoch) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(tables.builds == 8);
  // While one is being built others are to be had.
  const std::uint64_t built = tables.tables.get({1, 100}, [&] { return Table{tables(5) + tables(101), 8}; })->epoch;
  CHECK(built == 106);
}
