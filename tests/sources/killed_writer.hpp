// SPDX-License-Identifier: Apache-2.0
// Writers that are killed at any moment.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <thread>
#include <vector>

#include "sources/labelled_items.hpp"
#include "support/catch.hpp"

namespace penstock_test {

// PENSTOCK_TEST_SCALE multiplies the rounds.
inline int scaled_rounds(int rounds) {
  const char* const scale = std::getenv("PENSTOCK_TEST_SCALE");
  return scale != nullptr ? std::max(1, std::atoi(scale)) * rounds : rounds;
}

// Whom a writer tells how far it is, and where it dies by itself.
struct WriterFate {
  int told = -1;  // gets a 'c' for each sample that is committed, and an 'f' before the sink finishes
  std::size_t die_before_put = ~std::size_t{0};
};

// Writes the items, a commit every twenty.
template <class Sink>
void write_and_tell(Sink& sink, const std::vector<LabelledItem>& items, const WriterFate& fate) {
  const auto tell = [&](const char* what) {
    if (fate.told >= 0) static_cast<void>(!::write(fate.told, what, 1));
  };
  sink.open({labelled_schema, items.size()});
  std::size_t there = 0, uncommitted = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (sink.has(sink_item(items, i))) {
      ++there;
    } else {
      if (i == fate.die_before_put) ::raise(SIGKILL);
      put(sink, i, items[i]);
      ++uncommitted;
    }
    if (i % 20 != 19) continue;
    sink.commit();
    for (; uncommitted != 0; --uncommitted) tell("c");
  }
  if (there != items.size()) tell("f");
  sink.finish();
}

enum class Death : std::uint8_t { before_a_put, anywhere, at_the_end };

// Runs `write(fate)`, which puts so many records and lasts about `whole` by itself, in one process after the other
// until one comes to its end well. Six of them are killed at most. `killed(death, committed)` is called after each
// kill, with how many samples were told as committed by then.
template <class Write, class Killed>
void kill_until_written(std::mt19937_64& random, std::size_t records, std::chrono::microseconds whole,
                        const Write& write, const Killed& killed) {
  std::size_t committed = 0;
  for (int kills = 0;; ++kills) {
    int pipe[2];
    REQUIRE(::pipe(pipe) == 0);
    const auto death = static_cast<Death>(random() % 3);
    const std::size_t at = random() % records;
    const auto wait = std::chrono::microseconds(random() % static_cast<std::uint64_t>(whole.count() + 1));
    const auto late = std::chrono::microseconds(random() % 300);
    const bool kill = kills < 6;
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        WriterFate fate{.told = pipe[1]};
        if (kill && death == Death::before_a_put) fate.die_before_put = at;
        write(fate);
        ::_exit(0);
      } catch (const std::exception& error) {
        static_cast<void>(!::write(2, error.what(), std::strlen(error.what())));
        ::_exit(1);
      }
    }
    ::close(pipe[1]);
    if (kill && death == Death::anywhere) {
      std::this_thread::sleep_for(wait);
      ::kill(child, SIGKILL);
    }
    char byte = 0;
    while (::read(pipe[0], &byte, 1) == 1) {
      if (byte == 'c') ++committed;
      if (byte == 'f' && kill && death == Death::at_the_end) {
        std::this_thread::sleep_for(late);
        ::kill(child, SIGKILL);
      }
    }
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE((WIFEXITED(status) || WTERMSIG(status) == SIGKILL));
    if (WIFEXITED(status)) {
      REQUIRE(WEXITSTATUS(status) == 0);
      return;
    }
    killed(death, committed);
  }
}

template <class Act>
std::chrono::microseconds time_of(const Act& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
}

}  // namespace penstock_test
