// SPDX-License-Identifier: Apache-2.0
// Writers that are started at once on one path.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "sources/temp_folder.hpp"
#include "store_jobs.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

// Lets all who wait go at the same moment: they see the end of the pipe.
class Gate {
 public:
  Gate() { REQUIRE(::pipe(ends_) == 0); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    open();
    ::close(ends_[0]);
  }
  void wait() {  // in a child
    ::close(ends_[1]);
    char byte = 0;
    static_cast<void>(!::read(ends_[0], &byte, 1));
  }
  void open() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2];
};

}  // namespace

// PENSTOCK_STARTS: how many times for each kind of store; PENSTOCK_STORE: one kind only; PENSTOCK_SEED.
TEST_CASE("of writers that are started at once one writes and nothing is lost") {
  const std::uint64_t starts = number_of("PENSTOCK_STARTS", 15);
  std::mt19937_64 random(number_of("PENSTOCK_SEED", 1));
  for (const StoreJob& job : chosen_jobs()) {
    const TempFolder folder;
    REQUIRE(run_child([&] { return std::to_string(job.write(folder / "whole", {})); }).said ==
            std::to_string(job.items));
    const std::string content = job.content(folder / "whole");
    const std::vector<std::string> names = names_in(folder / "whole");
    std::uint64_t busy = 0, finished = 0;
    for (std::uint64_t start = 0; start < starts; ++start) {
      const std::string to = folder / ("at once " + std::to_string(start));
      const bool sync = random() % 2 == 0;
      const std::size_t writers = 2 + random() % 3;
      std::vector<RunningChild> children;
      {
        Gate gate;
        for (std::size_t i = 0; i < writers; ++i) {
          // Most writers begin at once, the others while the first one begins, or while it ends.
          constexpr useconds_t latest[] = {0, 0, 4000, 60'000};
          const useconds_t late_us = latest[random() % 4] * static_cast<useconds_t>(random() % 100) / 100;
          children.emplace_back([&, late_us] {
            gate.wait();
            if (late_us != 0) ::usleep(late_us);
            return std::to_string(job.write(to, {.sync = sync, .commit_every = 5}));
          });
        }
      }
      std::uint64_t written = 0, writing = 0;
      for (RunningChild& child : children) {
        const ChildEnd end = child.end();
        INFO(job.name << ", start " << start << ": " << end.said);
        REQUIRE(end.signal == 0);
        if (end.exit_code == 0) {
          const std::uint64_t wrote = std::stoull(end.said);
          written += wrote;
          if (wrote != 0) ++writing;
          if (wrote == 0) ++finished;
        } else {
          // Who has it, and what to do.
          CHECK(end.said.starts_with("invalid_argument"));
          CHECK(end.said.find(": another process") != std::string::npos);
          CHECK(end.said.find("wait until it is done, or stop it") != std::string::npos);
          ++busy;
        }
      }
      INFO(job.name << ", start " << start);
      if (!job.shared) REQUIRE(writing == 1);
      REQUIRE(written == job.items);
      REQUIRE(job.content(to) == content);
      REQUIRE(names_in(to) == names);
      std::filesystem::remove_all(to);
    }
    WARN(job.name << ": " << starts << " starts, " << busy << " were told who writes, " << finished
                  << " found it finished");
  }
}
