// SPDX-License-Identifier: Apache-2.0
// A system that lets the process start few threads, or none.
#include "support/catch.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>

#include <tbb/global_control.h>

#include <penstock/emulated_gpu.hpp>
#include <penstock/write.hpp>

#include "base/startable_threads.hpp"
#include "core/help.hpp"
#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {

// Becomes a user who may have so many threads beside those there are. False where that can't be done.
bool allow_threads(unsigned more) {
  constexpr uid_t nobody = 65534;
  if (::getuid() == 0 && ::setuid(nobody) != 0) return false;
  // What other processes of this user have is not known; nobody has some elsewhere, if anybody does.
  // A sanitizer's own thread counts here too.
  const std::filesystem::directory_iterator threads("/proc/self/task");
  const auto own = static_cast<rlim_t>(std::distance(begin(threads), end(threads)));
  rlimit limit{};
  ::getrlimit(RLIMIT_NPROC, &limit);
  limit.rlim_cur = own + more;
  return ::setrlimit(RLIMIT_NPROC, &limit) == 0 && (more == 0 ? penstock::detail::startable_threads(1) == 0
                                                              : penstock::detail::startable_threads(more + 1) == more);
}

}  // namespace

TEST_CASE("so many threads as can be started are found, and none is left", "[alone]") {
  const unsigned before = thread_count();
  CHECK(penstock::detail::startable_threads(0) == 0);
  CHECK(penstock::detail::startable_threads(5) == 5);
  CHECK(thread_count() == before);
}

TEST_CASE("where few threads can be started, or none, a run goes on with those", "[alone]") {
  if (!inner()) {
    const int status = run_inner("where few threads can be started, or none, a run goes on with those");
    if (status == 4) PENSTOCK_SKIP("the number of a user's threads can't be limited here");
    CHECK(status == 0);
    return;
  }
  const Watchdog dog(120s);
  const ps::Pipeline direct = ps::from(Records{.count = 300}) | ps::shuffle() | AddDraw{} | ps::batch(8);
  const ps::Pipeline reordered = ps::from(Records{.count = 300}) | Parts{} | ps::batch(8);
  const unsigned own = thread_count();
  for (const unsigned more : {0u, 1u, 3u}) {
    CAPTURE(more);
    const unsigned workers = thread_count() - own;  // those of the executors before stay
    CHECK(workers <= 1);
    if (!allow_threads(more)) PENSTOCK_SKIP("the number of this user's threads can't be limited here");
    const unsigned most = workers + more;
    const ps::Executor executor(8);
    CHECK(executor.threads() == std::max(most, 1u));
    std::vector<Got> expected;
    for (const ps::Pipeline* p : {&reordered, &direct}) {
      ps::Loader loader(*p, {.threads = 8, .executor = executor});
      expected = collect(loader, 2);
      CHECK(expected.size() > 70);
      std::string notes;
      for (const std::string& note : loader.report().notes) notes += note + "\n";
      CHECK(notes.find("start only " + std::to_string(most) + " of 8 threads") != std::string::npos);
    }
    // Others wait for the same threads; what is theirs comes too.
    ps::Loader own(direct, {.threads = 8}), usual(direct);
    CHECK(collect(own, 2) == expected);
    CHECK(collect(usual, 2) == expected);
    CountingSink sink;
    CHECK(ps::write(direct, sink, {.threads = 8}).done == 300);
  }
  // Where there is room again, the next executor has what it asks for.
  REQUIRE(allow_threads(20));
  CHECK(ps::Executor(8).threads() == 8);
}

TEST_CASE("an executor's threads are there once it is made, whatever others start afterwards", "[alone]") {
  if (!inner()) {
    const int status = run_inner("an executor's threads are there once it is made, whatever others start afterwards");
    if (status == 4) PENSTOCK_SKIP("the number of a user's threads can't be limited here");
    CHECK(status == 0);
    return;
  }
  const Watchdog dog(120s);
  const unsigned before = thread_count();
  const ps::Pipeline direct = ps::from(Records{.count = 300}) | ps::shuffle() | AddDraw{} | ps::batch(8);
  const ps::Executor executor(6);
  CHECK(eventually([&] { return thread_count() == before + 6; }));
  ps::Loader loader(direct, {.threads = 6, .executor = executor});
  // Fewer than it has, of which oneTBB's workers would start the last ones: that ended the process.
  if (!allow_threads(2)) PENSTOCK_SKIP("the number of this user's threads can't be limited here");
  CHECK(collect(loader, 2).size() == 76);
  CHECK(loader.report().threads == 6);
}

TEST_CASE("executors that follow each other have the same threads", "[alone]") {
  if (!inner()) {
    CHECK(run_inner("executors that follow each other have the same threads") == 0);
    return;
  }
  const Watchdog dog(120s);
  const unsigned before = thread_count();
  for (int i = 0; i < 200; ++i) {
    const ps::Executor executor(3);
    CHECK(executor.threads() == 3);
  }
  CHECK(eventually([&] { return thread_count() == before + 3; }));
  {
    // Two at a time have as many as both need, up to what the one that asks for most does.
    const ps::Executor a(3), b(5);
    CHECK(eventually([&] { return thread_count() == before + 5; }));
  }
  for (unsigned i = 1; i < 40; ++i) CHECK(ps::Executor(i % 5 + 1).threads() == i % 5 + 1);
  CHECK(thread_count() == before + 5);
}

TEST_CASE("an executor whose threads can't all come waits for those that do", "[alone]") {
  if (!inner()) {
    CHECK(run_inner("an executor whose threads can't all come waits for those that do") == 0);
    return;
  }
  const Watchdog dog(120s);
  // The application allows fewer.
  const tbb::global_control fewer(tbb::global_control::max_allowed_parallelism, 2);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(penstock::detail::startable_threads(3000) > 100);
  const auto tried = std::chrono::steady_clock::now();
  const ps::Executor executor(3000);
  // Trying them is a part of it.
  CHECK(std::chrono::steady_clock::now() - tried < 2 * (tried - begin) + 1500ms);
  CHECK(thread_count() < 1000);
}

TEST_CASE("threads of a device that can't be started are an error, and tried again", "[alone]") {
  if (!inner()) {
    const int status = run_inner("threads of a device that can't be started are an error, and tried again");
    if (status == 4) PENSTOCK_SKIP("the number of a user's threads can't be limited here");
    CHECK(status == 0);
    return;
  }
  const Watchdog dog(120s);
  const ps::EmulatedGpu late({.mode = ps::EmulatedGpuOptions::Mode::late});
  const ps::Executor executor(1);
  ps::Loader loader(ps::from(Records{.count = 40}) | ps::batch(8), {.device = late.device(), .executor = executor});
  // oneTBB's worker is there before.
  {
    ps::Loader first(ps::from(Records{.count = 40}) | ps::batch(8), {.executor = executor});
    CHECK(collect(first).size() == 5);
  }
  if (!allow_threads(0)) PENSTOCK_SKIP("the number of this user's threads can't be limited here");
  for (int i = 0; i < 2; ++i) {
    const auto error = error_of([&] { (void)loader.next(); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::limit_exceeded);
    CHECK(error->cause().find("threads that serve a device") != std::string::npos);
  }
  const auto error = error_of([] {
    ps::EmulatedGpu threaded;
    (void)threaded.make_stream("stream");
  });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::limit_exceeded);
  REQUIRE(allow_threads(8));
  CHECK(collect(loader).size() == 5);
}
