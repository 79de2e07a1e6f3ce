// SPDX-License-Identifier: Apache-2.0
#include "data/scratch.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;

TEST_CASE("scratch is aligned, distinct, and settles into one block") {
  ScratchArena arena;
  for (int sample = 0; sample < 5; ++sample) {
    arena.reset();
    std::vector<std::pair<std::byte*, std::size_t>> given;
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::size_t n = mix(i) % 100'000;
      std::byte* p = arena.allocate(n);
      CHECK(reinterpret_cast<std::uintptr_t>(p) % 64 == 0);
      std::memset(p, static_cast<int>(i), n);
      given.emplace_back(p, n);
    }
    for (std::size_t i = 0; i < given.size(); ++i)
      for (std::size_t j = 0; j < given[i].second; j += 997) REQUIRE(static_cast<std::size_t>(given[i].first[j]) == i);
  }
  const std::size_t capacity = arena.capacity();
  arena.reset();
  CHECK(arena.capacity() == capacity);
  CHECK(arena.peak() <= capacity);
}

TEST_CASE("whether a sample fits does not depend on those before it, also where the system refuses one large block") {
  if (sanitized()) PENSTOCK_SKIP("a sanitizer reserves more address space than the limit this test sets");
  constexpr std::size_t mib = 1u << 20;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  REQUIRE(pages != 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // Room for what fits the arena's limit, but not for all of that limit at once.
    const rlim_t most = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + 460 * mib;
    const rlimit space{most, most};
    if (::setrlimit(RLIMIT_AS, &space) != 0) ::_exit(2);
    try {
      ScratchArena arena(500 * mib);
      arena.allocate(250 * mib);
      arena.reset();
      arena.allocate(400 * mib);
    } catch (const ps::Error&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("scratch that is rewound is used again") {
  ScratchArena arena;
  std::byte* a = arena.allocate(100);
  const auto mark = arena.mark();
  std::byte* b = arena.allocate(200'000);
  arena.rewind(mark);
  CHECK(arena.allocate(100) == a + 128);
  arena.rewind(mark);
  CHECK(arena.allocate(200'000) == b);
  arena.reset();
  CHECK(arena.allocate(300'000) != nullptr);  // now in one block
  CHECK(arena.capacity() <= 600'000);
}

TEST_CASE("scratch hands its memory over, with what lies in it") {
  ScratchArena a, b(ScratchArena::no_limit, 256);
  std::byte* const text = a.allocate(1000);
  std::memset(text, 7, 1000);
  b.set_min_block(4096);
  std::byte* const other = b.allocate(1);
  CHECK(b.capacity() == 4096);
  CHECK(a.holds(text));
  CHECK(a.holds(text + 999));
  CHECK_FALSE(a.holds(other));
  CHECK_FALSE(b.holds(other + 4096));
  const std::size_t peak = a.peak();
  a.swap_memory(b);
  CHECK(b.holds(text));
  CHECK_FALSE(a.holds(text));
  CHECK(a.holds(other));
  CHECK(a.capacity() == 4096);
  CHECK(a.peak() == peak);
  CHECK(b.peak() == peak);
  CHECK(static_cast<int>(text[999]) == 7);
  CHECK(a.allocate(100) == other + 64);
  CHECK(b.allocate(100) == text + 1024);
}

TEST_CASE("scratch has a limit, and survives reaching it") {
  ScratchArena arena(100'000);
  CHECK(arena.allocate(90'000) != nullptr);
  const auto error = error_of([&] { (void)arena.allocate(20'000); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::out_of_memory);
  arena.reset();
  CHECK(arena.allocate(90'000) != nullptr);
  CHECK(error_of([&] { (void)arena.allocate(~std::size_t{0} - 5); })->code() == ps::Errc::limit_exceeded);
}

TEST_CASE("a piece for which scratch has no room changes nothing") {
  for (const std::size_t min_block : {std::size_t{64}, std::size_t{1} << 20}) {
    ScratchArena arena(4096, min_block);
    CHECK_THROWS_AS(arena.allocate(5000), ps::Error);
    std::byte* const first = arena.allocate(1000);
    std::memset(first, 1, 1000);
    for (const std::size_t more : {std::size_t{4096}, std::size_t{3500}, std::size_t{1} << 40})
      CHECK_THROWS_AS(arena.allocate(more), ps::Error);
    std::byte* const second = arena.allocate(3000);
    std::memset(second, 2, 3000);
    CHECK(first[999] == std::byte{1});
    arena.reset();
    CHECK(arena.allocate(4096) != nullptr);
  }
}

TEST_CASE("the piece that was handed out last can be given back") {
  ScratchArena arena(1 << 20, 256);
  std::byte* const first = arena.allocate(100);
  std::memset(first, 1, 100);
  for (const std::size_t bytes : {64, 1000, 500'000}) {  // in the same block, or in another one
    std::byte* const piece = arena.allocate(bytes);
    arena.give_back(piece);
    CHECK(arena.allocate(bytes) == piece);
    arena.give_back(piece);
  }
  std::byte* const large = arena.allocate(1'000'000);
  arena.give_back(large);
  std::byte* const a = arena.allocate(400'000);
  std::byte* const b = arena.allocate(400'000);
  arena.give_back(a);  // is not the last one
  arena.give_back(nullptr);
  const std::byte* const c = arena.allocate(64);
  CHECK((c != a && c != b && a != b));
  CHECK(first[99] == std::byte{1});
  arena.reset();
  arena.give_back(b);
  CHECK(arena.allocate(64) != nullptr);
}

TEST_CASE("whether a sample fits into limited scratch does not depend on those before it") {
  ScratchArena arena(10 << 20);
  for (int sample = 0; sample < 20; ++sample) {
    arena.reset();
    CHECK(arena.allocate(sample % 2 == 0 ? 6 << 20 : 7 << 20) != nullptr);
    if (sample % 5 == 0) CHECK(arena.allocate(3 << 20) != nullptr);
    if (sample % 7 == 0) CHECK(error_of([&] { (void)arena.allocate(8 << 20); })->code() == ps::Errc::out_of_memory);
  }
  CHECK(arena.peak() == 10 << 20);
  CHECK(arena.capacity() <= 10 << 20);
}
