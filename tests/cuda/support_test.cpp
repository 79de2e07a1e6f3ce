// SPDX-License-Identifier: Apache-2.0
// A build with CUDA on a machine without: it says so, and works on the host.
#include "support/catch.hpp"

#include "core/help.hpp"
#include "device/devices.hpp"

using namespace help;

namespace {
ps::Pipeline few() { return ps::from(Records{.count = 8}) | ps::batch(4); }
}  // namespace

TEST_CASE("what the build and the machine have is said and holds") {
  const std::string support = ps::device_support();
  INFO(support);
  CHECK(support.find("CUDA ") == 0);
  CHECK(ps::device_support() == support);
  CHECK((ps::best_device() == ps::host()) ==
        (support.find("GPU") == std::string::npos || support.find("no GPU") != std::string::npos));
}

TEST_CASE("without a driver the best device is the host and a GPU is refused with the reason") {
  const Watchdog watchdog(60s);
  if (ps::best_device() != ps::host()) PENSTOCK_SKIP("there is a GPU");
  const std::string support = ps::device_support();
  const unsigned threads = thread_count(), files = fd_count();
  for (int i = 0; i < 50; ++i)
    for (const int index : {0, 1, -1}) {
      const auto error = error_of([&] { ps::Loader(few(), {.device = ps::gpu(index)}); });
      REQUIRE(error);
      CHECK(error->code() == ps::Errc::unsupported);
      CHECK(error->cause().find(ps::to_string(ps::gpu(index)) + " can't be used: " + support + "; ") == 0);
      CHECK(error->cause().find("host()") != std::string::npos);
    }
  CHECK(fd_count() == files);
  CHECK(eventually([&] { return thread_count() <= threads; }));
  CHECK(collect(few(), {.device = ps::best_device(), .threads = 1}).size() == 2);
}

TEST_CASE("a machine without any driver is told from one whose driver is too old") {
  if (ps::device_support().find("runtime, ") == std::string::npos) PENSTOCK_SKIP("there is a driver that will do");
  const auto error = error_of([] { static_cast<void>(ps::detail::open_device(ps::gpu(0))); });
  REQUIRE(error);
  const bool none = ps::device_support().find("no driver on this machine") != std::string::npos;
  CHECK(error->cause().find(none ? "install NVIDIA's driver" : "update NVIDIA's driver") != std::string::npos);
}
