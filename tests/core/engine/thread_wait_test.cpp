// SPDX-License-Identifier: Apache-2.0
// What threads wait for, as the system shows it.
#include "engine/thread_wait.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

// What a thread waits for in `f`, once it does; none where the system does not tell.
std::optional<ps::Wait> wait_in(const std::function<void()>& f, const std::function<void()>& end) {
  std::atomic<int> id{0};
  std::thread thread([&] {
    id = this_thread_id();
    f();
  });
  std::optional<ps::Wait> wait;
  eventually([&] { return id != 0 && (wait = wait_of_thread(id)).has_value(); });
  end();
  thread.join();
  return wait;
}

}  // namespace

TEST_CASE("what the system says of a thread is understood", "[alone]") {
  CHECK(parse_wait("running\n") == std::nullopt);
  CHECK(parse_wait("") == std::nullopt);
  CHECK(parse_wait("202") == std::nullopt);
  CHECK(parse_wait("-1 0x7ffd82c1f5c0 0x7ffb326a412b\n") == ps::Wait::page);
#if defined(__x86_64__)
  CHECK(parse_wait("202 0x7ffd82c1f5c0 0x80 0x2 0x0 0x0 0x0 0x7ffb3253ce88 0x7ffb326a412b\n") == ps::Wait::lock);
  CHECK(parse_wait("17 0x3 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n") == ps::Wait::read);
  CHECK(parse_wait("45 0x3 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n") == ps::Wait::network);
  CHECK(parse_wait("230 0x3 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n") == ps::Wait::sleep);
  CHECK(parse_wait("61 0x3 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n") == ps::Wait::other);
#endif
}

TEST_CASE("a thread that waits is found out, and one that does not isn't", "[alone]") {
  const Watchdog dog(60s);
  std::atomic<bool> over{false};
  std::atomic<int> id{0};
  std::thread busy([&] {
    id = this_thread_id();
    while (!over) {
    }
  });
  CHECK(eventually([&] { return id != 0; }));
  int waits = 0;
  for (int i = 0; i < 100; ++i) waits += wait_of_thread(id).has_value();
  CHECK(waits == 0);
  over = true;
  busy.join();
  CHECK(wait_of_thread(0) == std::nullopt);
  std::mutex mutex;
  mutex.lock();
  const auto in_lock = wait_in(
      [&] {
        mutex.lock();
        mutex.unlock();
      },
      [&] { mutex.unlock(); });
  if (!in_lock) {
    WARN("this system does not show what threads wait for");
    return;
  }
  CHECK(*in_lock == ps::Wait::lock);
  CHECK(wait_in([] { std::this_thread::sleep_for(100ms); }, [] {}) == ps::Wait::sleep);
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  char byte = 0;
  CHECK(wait_in([&] { static_cast<void>(::read(pipe[0], &byte, 1)); },
                [&] { static_cast<void>(::write(pipe[1], "x", 1)); }) == ps::Wait::read);
  ::close(pipe[0]);
  ::close(pipe[1]);
}
