// SPDX-License-Identifier: Apache-2.0
// Who had the cores: what the system says of it, and what a report makes of that.
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>

#include "base/clock.hpp"
#include "base/core_time.hpp"
#include "base/cores.hpp"
#include "base/run_delay.hpp"
#include "core/help.hpp"

using namespace help;
namespace detail = penstock::detail;

namespace {

cpu_set_t cores(std::initializer_list<int> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int n : numbers) CPU_SET(n, &set);
  return set;
}

void spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Twice as many threads as cores, which have something to do all the time.
class Hogs {
 public:
  Hogs() {
    for (unsigned i = 0; i < 2 * detail::usable_cores(); ++i)
      threads_.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
      });
  }

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace

TEST_CASE("a thread's wait for a core is read from what the kernel says, if it counts", "[alone]") {
  CHECK(detail::parse_run_delay("91886 2885254 2\n") == 2885254u);
  CHECK(detail::parse_run_delay("5 0 1") == 0u);
  CHECK_FALSE(detail::parse_run_delay("0 0 0\n"));  // a kernel that counts nothing
  CHECK_FALSE(detail::parse_run_delay("91886 2885254"));
  CHECK_FALSE(detail::parse_run_delay(""));
  CHECK_FALSE(detail::parse_run_delay("what is this"));
}

TEST_CASE("the time of the cores a process may use is summed up, without interrupts and idle time", "[alone]") {
  const char* const stat =
      "cpu  1000 200 300 9000 50 60 70 80 90 5\n"
      "cpu0 600 100 100 4000 50 60 70 80 90 5\n"
      "cpu1 300 50 150 4000 0 0 0 0 0 0\n"
      "cpu10 100 50 50 1000 0 0 0 0 0 0\n"
      "intr 12345 0 0\n";
  CHECK(detail::parse_busy_seconds(stat, cores({0}), 100) == 8.0);
  CHECK(detail::parse_busy_seconds(stat, cores({1, 10}), 100) == 7.0);
  // A container may show fewer, or other ones.
  CHECK_FALSE(detail::parse_busy_seconds(stat, cores({0, 2}), 100));
  CHECK_FALSE(detail::parse_busy_seconds("", cores({0}), 100));
  CHECK_FALSE(detail::parse_busy_seconds("cpu0 1 2\n", cores({0}), 100));
}

TEST_CASE("what others had is what this process had not", "[alone]") {
  const detail::CoreTime from{100, 10, 5'000'000'000, 2}, to{103.2, 11, 7'000'000'000, 2};
  const auto shares = detail::core_shares(from, to);
  REQUIRE(shares);
  CHECK(shares->own == Approx(0.25));
  CHECK(shares->others == Approx(0.55));
  // Clocks of different grain: no less than nothing, no more than all.
  CHECK(detail::core_shares({100, 10, 0, 2}, {100.9, 11, 1'000'000'000, 2})->others == 0);
  const auto all = detail::core_shares({100, 10, 0, 2}, {103, 12.5, 1'000'000'000, 2});
  CHECK(all->own == 1);
  CHECK(all->others == 0);
  CHECK_FALSE(detail::core_shares({100, 10, 0, 2}, {101, 11, 150'000'000, 2}));
  CHECK_FALSE(detail::core_shares({100, 10, 0, 2}, {101, 11, 1'000'000'000, 4}));
}

TEST_CASE("a quota of a control group, or of one above it, is what is left of the cores", "[alone]") {
  const std::filesystem::path mount = std::filesystem::temp_directory_path() / "penstock-quota-test";
  std::filesystem::remove_all(mount);
  const auto write = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories((mount / file).parent_path());
    std::ofstream(mount / file) << text;
  };
  CHECK(detail::core_quota(mount, "0::/a/b\n") == 0);
  write("a/b/cpu.max", "max 100000\n");
  CHECK(detail::core_quota(mount, "0::/a/b\n") == 0);
  write("a/cpu.max", "250000 100000\n");
  CHECK(detail::core_quota(mount, "0::/a/b\n") == 2.5);
  write("a/b/cpu.max", "150000 100000\n");
  CHECK(detail::core_quota(mount, "0::/a/b\n") == 1.5);
  CHECK(detail::core_quota(mount, "0::/elsewhere\n") == 0);
  write("cpu.max", "50000 100000\n");  // a container's own mount
  CHECK(detail::core_quota(mount, "0::/elsewhere\n") == 0.5);
  std::filesystem::remove(mount / "cpu.max");
  const char* const old = "12:cpuset:/x\n4:cpu,cpuacct:/docker/1\n0::/system\n";
  write("cpu/docker/1/cpu.cfs_quota_us", "-1\n");
  write("cpu/docker/1/cpu.cfs_period_us", "100000\n");
  CHECK(detail::core_quota(mount, old) == 0);
  write("cpu/cpu.cfs_quota_us", "300000\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  CHECK(detail::core_quota(mount, old) == 3);
  std::filesystem::remove_all(mount);
}

TEST_CASE("time without a core is found where others have the cores, and is no waiting", "[alone]") {
  const Watchdog dog(120s);
  if (!detail::run_delay_ns()) PENSTOCK_SKIP("this kernel does not count how long threads wait for a core");
  // Each sample gives up its core once, and computes: what it is kept from is not what it waits for.
  Records source{.count = scaled(600, 200)};
  source.shared->before_read = [](std::uint64_t) {
    std::this_thread::sleep_for(1us);
    spin(300us);
  };
  const Hogs hogs;
  ps::Loader loader(ps::from(source) | ps::batch(8), {.threads = 1});
  (void)collect(loader, 2);
  const ps::Report r = loader.report();
  CAPTURE(r.text());
  REQUIRE(r.runner_delay_share);
  CHECK(*r.runner_delay_share > 0.3);
  CHECK(r.runner_wait_share < *r.runner_delay_share / 2);
  CHECK(r.bound != ps::Bound::storage);
  CHECK(r.verdict.find("would add") == std::string::npos);
  REQUIRE(r.own_core_share);
  CHECK(*r.own_core_share > 0.05);  // others may be there as well
  CHECK(*r.own_core_share + *r.other_core_share < 1.01);
}

TEST_CASE("the caller's wait for a core is counted, whichever thread it is", "[alone]") {
  const Watchdog dog(120s);
  if (!detail::run_delay_ns()) PENSTOCK_SKIP("this kernel does not count how long threads wait for a core");
  ps::Loader loader(ps::from(Records{.count = 400}) | ps::batch(4), {.threads = 1});
  const Hogs hogs;
  for (int thread = 0; thread < 2; ++thread) {
    std::thread([&] {
      for (const ps::Batch& batch : loader.epoch()) {
        (void)batch;
        spin(2ms);
      }
    }).join();
  }
  const ps::Report r = loader.report();
  CAPTURE(r.text());
  REQUIRE(r.caller_delay_share);
  CHECK(*r.caller_delay_share > 0.2);
  CHECK(*r.caller_delay_share < 1);
}
