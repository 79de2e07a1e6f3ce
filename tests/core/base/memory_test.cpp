// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include <penstock/testing/fail_after_resource.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "support/catch.hpp"

#include "core/help.hpp"

using namespace help;

TEST_CASE("a limit is hard, and what it refuses does not count") {
  ps::LimitResource limit(ps::host_memory(), 1000);
  void* a = limit.allocate(600, 64);
  CHECK(limit.used() == 600);
  const auto error = error_of([&] { (void)limit.allocate(401, 64); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::out_of_memory);
  CHECK(error->cause().find("401") != std::string::npos);
  CHECK(limit.used() == 600);
  CHECK(error_of([&] { (void)limit.allocate(~std::size_t{0}, 64); }));
  void* b = limit.allocate(400, 64);
  CHECK(limit.used() == 1000);
  limit.deallocate(a, 600, 64);
  limit.deallocate(b, 400, 64);
  CHECK(limit.used() == 0);
  CHECK(limit.limit() == 1000);
  CHECK(limit.kind() == ps::MemoryKind::host);
}

TEST_CASE("a large request that is refused can't make a small one fail") {
  // With add-then-check, the large request's bytes would be visible for a moment and small ones that fit be refused.
  ps::LimitResource limit(ps::host_memory(), 1000);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> large_passed{0};
  std::jthread large([&] {
    while (!stop) {
      try {
        limit.deallocate(limit.allocate(990, 64), 990, 64);
        ++large_passed;
      } catch (const ps::Error&) {
      }
    }
  });
  void* held = nullptr;  // once this is held, 990 never fit
  while (held == nullptr) {
    try {
      held = limit.allocate(100, 64);
    } catch (const ps::Error&) {  // the large one has it just now
    }
  }
  std::uint64_t refused = 0;
  const auto end = std::chrono::steady_clock::now() + 300ms;
  while (std::chrono::steady_clock::now() < end)
    for (int i = 0; i < 100; ++i) {
      try {
        limit.deallocate(limit.allocate(100, 64), 100, 64);
      } catch (const ps::Error&) {
        ++refused;
      }
    }
  stop = true;
  large.join();
  CHECK(refused == 0);
  limit.deallocate(held, 100, 64);
  CHECK(limit.used() == 0);
}

TEST_CASE("the limit holds under many threads") {
  ps::LimitResource limit(ps::host_memory(), 10'000);
  std::atomic<std::size_t> most{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 5000; ++i) {
          const std::size_t n = 1 + mix(t * 100'000 + i) % 6000;
          try {
            void* p = limit.allocate(n, 64);
            std::size_t seen = most;
            while (seen < limit.used() && !most.compare_exchange_weak(seen, limit.used())) {
            }
            limit.deallocate(p, n, 64);
          } catch (const ps::Error&) {
          }
        }
      });
  }
  CHECK(most <= 10'000);
  CHECK(limit.used() == 0);
}

namespace {

// A page of this address is mapped, and in memory.
bool in_memory(const std::byte* data) {
  unsigned char seen = 0;
  auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(data) / 4096 * 4096);
  return ::mincore(page, 1, &seen) == 0 && (seen & 1) != 0;
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

}  // namespace

TEST_CASE("pieces of host memory lie apart, and all of it is the system's again when all are given back") {
  struct Piece {
    std::byte* data;
    std::size_t bytes;
    std::uint64_t number;
  };
  const auto is_whole = [](const Piece& it) {
    for (std::size_t i = 0; i + 8 <= it.bytes; i += 8 * 61)
      if (std::memcmp(it.data + i, &it.number, 8) != 0) return false;
    return true;
  };
  std::vector<Piece> pieces;
  std::vector<const std::byte*> seen;
  for (std::uint64_t n = 0; n < 600; ++n) {
    const std::size_t bytes = (128u << 10) + mix(n) % (n % 10 == 0 ? 5u << 20 : 900u << 10);
    auto* const data = static_cast<std::byte*>(ps::host_memory().allocate(bytes, 64));
    REQUIRE(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
    for (std::size_t i = 0; i + 8 <= bytes; i += 8) std::memcpy(data + i, &n, 8);
    pieces.push_back({data, bytes, n});
    seen.push_back(data);
    if (n % 3 == 0) continue;
    std::swap(pieces[mix(n) % pieces.size()], pieces.back());
    const Piece gone = pieces.back();
    pieces.pop_back();
    REQUIRE(is_whole(gone));
    ps::host_memory().deallocate(gone.data, gone.bytes, 64);
  }
  for (const Piece& it : pieces) CHECK(is_whole(it));
  for (const Piece& it : pieces) ps::host_memory().deallocate(it.data, it.bytes, 64);
  CHECK(std::none_of(seen.begin(), seen.end(), in_memory));
  CHECK(error_of([] { (void)ps::host_memory().allocate(SIZE_MAX - 100, 64); }));
}

TEST_CASE("host memory that is given back serves others, or goes back in whole huge pages, and leaves no holes") {
  constexpr std::size_t piece = 512u << 10, huge = 2u << 20;
  std::vector<std::byte*> pieces(256);
  for (std::byte*& it : pieces) {
    it = static_cast<std::byte*>(ps::host_memory().allocate(piece, 64));
    std::memset(it, 1, piece);
  }
  const std::size_t before = mappings();
  const auto huge_page = [&](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) / huge; };
  std::map<std::uintptr_t, int> left;
  for (const std::byte* it : pieces) ++left[huge_page(it)];
  std::vector<std::byte*> gone;
  for (std::size_t n = 0; n < pieces.size(); ++n)
    if (n % 8 != 0) gone.push_back(pieces[n]);
  for (std::byte* it : gone) {
    ps::host_memory().deallocate(it, piece, 64);
    --left[huge_page(it)];
  }
  for (std::byte* it : gone) CHECK((left[huge_page(it)] != 0 || !in_memory(it)));
  CHECK(mappings() <= before);
  for (std::byte*& it : gone) {
    it = static_cast<std::byte*>(ps::host_memory().allocate(piece, 64));
    CHECK(std::count(pieces.begin(), pieces.end(), it) == 1);
  }
  for (std::size_t n = 0; n < pieces.size(); n += 8) gone.push_back(pieces[n]);
  for (std::byte* it : gone) ps::host_memory().deallocate(it, piece, 64);
  CHECK(mappings() < before);
}

TEST_CASE("a child process has the host's memory, whatever other threads did at the fork") {
  const Watchdog dog(60s);
  const std::jthread other([](const std::stop_token& stop) {
    while (!stop.stop_requested()) ps::host_memory().deallocate(ps::host_memory().allocate(200'000, 64), 200'000, 64);
  });
  for (int n = 0; n < 200; ++n) {
    const ::pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::alarm(20);
      ps::host_memory().deallocate(ps::host_memory().allocate(200'000, 64), 200'000, 64);
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
  }
}

TEST_CASE("what upstream refuses does not count either") {
  ps::testing::FailAfterResource failing(ps::host_memory(), 1, true);
  ps::LimitResource limit(failing, 1000);
  ps::testing::StatisticsResource stats(limit);
  CHECK(error_of([&] { (void)stats.allocate(10, 8); }));
  CHECK(limit.used() == 0);
  CHECK(stats.used() == 0);
  CHECK(stats.allocations() == 0);
}

TEST_CASE("host memory is aligned, and what can't be had is an Error") {
  for (const std::size_t align : {8u, 64u, 4096u}) {
    void* p = ps::host_memory().allocate(100, align);
    CHECK(reinterpret_cast<std::uintptr_t>(p) % align == 0);
    ps::host_memory().deallocate(p, 100, align);
  }
  if (!sanitized())
    CHECK(error_of([] { (void)ps::host_memory().allocate(std::size_t{1} << 60, 64); })->code() ==
          ps::Errc::out_of_memory);
}

TEST_CASE("a loader whose buffers can't be allocated throws and leaks nothing") {
  const ps::Pipeline p = ps::from(Records{.count = 64}) | ps::batch(4);
  ps::testing::StatisticsResource stats(ps::host_memory());
  ps::testing::FailAfterResource failing(stats, 1, true);
  CHECK(error_of([&] { ps::Loader(p, {.threads = 1, .depth = 3, .host_memory = &failing}); })->code() ==
        ps::Errc::out_of_memory);
  CHECK(stats.used() == 0);
}
