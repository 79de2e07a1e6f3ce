// SPDX-License-Identifier: Apache-2.0
// Wherever an allocation fails, a run ends right, or with an error: it does not hang, crash, leak, or change anything.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <penstock/error.hpp>

#include "failing_allocations.hpp"
#include "no_memory_jobs.hpp"
#include "sources/temp_folder.hpp"
#include "store_jobs.hpp"
#include "support/catch.hpp"

// LeakSanitizer's, where it is there: in a build with AddressSanitizer, or by LD_PRELOAD=liblsan.so.
extern "C" [[gnu::weak]] int __lsan_do_recoverable_leak_check();  // NOLINT(bugprone-reserved-identifier)

using namespace penstock_test;

namespace {

using Points = std::vector<std::uint64_t>;

// What children say, in memory that they share with their parent.
struct Said {
  std::atomic<std::size_t> begun, done;  // of the points
  std::atomic<std::uint64_t> right, errors, unreached;
  std::uint64_t value, allocations;
  char content[1 << 16];
  std::size_t content_bytes;
  char wrong[2000];
};

Said& shared() {
  static Said* const said =
      static_cast<Said*>(::mmap(nullptr, sizeof(Said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *said;
}

struct Counted {
  std::uint64_t points = 0, right = 0, errors = 0;
  std::uint64_t hung = 0, crashed = 0, leaked = 0, wrong = 0;
  std::vector<std::string> words;
  bool fine() const { return hung + crashed + leaked + wrong == 0; }
};

// It hangs that takes so much longer than it ever should.
unsigned seconds_for_one() { return static_cast<unsigned>(number_of("PENSTOCK_SECONDS", 20)); }

[[noreturn]] void say_wrong(const std::string& words) {
  std::snprintf(shared().wrong, sizeof shared().wrong, "%s", words.c_str());
  ::_exit(3);
}

// The folder of one run, gone when that is over; of what a job reads there is one for all.
struct Area {
  const MemoryJob& job;
  std::string data, work;
};

void begin_empty(const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
}

std::optional<std::string> content_in(const Area& area) {
  try {
    return area.job.content(area.work);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string expected_content() { return {shared().content, shared().content_bytes}; }

void check_store(const Area& area, bool ended_right) {
  const std::optional<std::string> there = content_in(area);
  if (there && *there != expected_content()) say_wrong("a store that looks finished and is not");
  if (ended_right && !there && area.job.runs_to_finish == 1) say_wrong("it ended well, and nothing is there");
}

void run_again(const Area& area) {
  for (int run = 0; run < area.job.runs_to_finish; ++run)
    if (area.job.run(area.data, area.work) != shared().value) say_wrong("run again, it gives something else");
  if (area.job.content && content_in(area) != expected_content())
    say_wrong("run again, the store holds something else");
}

void run_point(const Area& area, std::uint64_t n) {
  begin_empty(area.work);
  std::uint64_t made = 0;
  bool right = false;
  try {
    begin_allocations(n);
    const std::uint64_t value = area.job.run(area.data, area.work);
    made = end_allocations();
    if (value != shared().value) say_wrong("it ended well, with other batches");
    right = true;
  } catch (const penstock::Error&) {
    made = end_allocations();
  } catch (const std::bad_alloc&) {
    made = end_allocations();
  } catch (const std::exception& error) {
    end_allocations();
    say_wrong(std::string("another exception: ") + error.what());
  }
  if (area.job.content) check_store(area, right);
  try {
    run_again(area);
  } catch (const std::exception& error) {
    say_wrong(std::string("run again: ") + error.what());
  }
  ++(!right ? shared().errors : made < n ? shared().unreached : shared().right);
}

// Some points, one after the other in one process. Returns how it ended.
int run_points(const Area& area, const Points& points, std::size_t begin, std::size_t end) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    for (const int ends : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(ends, SIG_DFL);  // not Catch's
    for (std::size_t i = begin; i < end; ++i) {
      shared().begun = i;
      ::alarm(seconds_for_one());
      run_point(area, points[i]);
      shared().done = i + 1;
    }
    ::alarm(0);
    if (__lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void note(Counted& counted, std::uint64_t n, int status) {
  std::string words = "allocation " + std::to_string(n) + ": ";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    ++counted.hung;
    words += "hangs";
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
    ++counted.wrong;
    words += shared().wrong;
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == 4) {
    ++counted.leaked;
    words += "leaks";
  } else {
    ++counted.crashed;
    words += WIFSIGNALED(status) ? std::string("signal ") + strsignal(WTERMSIG(status))
                                 : "exit " + std::to_string(WEXITSTATUS(status));
  }
  counted.words.push_back(words);
}

// Each point by itself where several of them leak. A child goes on after the one at which another ended.
void run_all(const Area& area, const Points& points, std::size_t begin, std::size_t end, Counted& counted) {
  while (begin < end) {
    shared().begun = shared().done = begin;
    const int status = run_points(area, points, begin, end);
    if (status == 0) return;
    const bool leaks = WIFEXITED(status) && WEXITSTATUS(status) == 4;
    if (leaks && end - begin > 1) {
      const std::uint64_t right = shared().right, errors = shared().errors, unreached = shared().unreached;
      const std::size_t middle = begin + (end - begin) / 2;
      run_all(area, points, begin, middle, counted);
      run_all(area, points, middle, end, counted);
      // They were counted before.
      shared().right = right;
      shared().errors = errors;
      shared().unreached = unreached;
      return;
    }
    const std::size_t at = shared().begun;
    note(counted, points[at], status);
    begin = at + 1;
  }
}

void learn(const Area& area, bool& well) {
  const ChildEnd end = run_child([&] {
    begin_empty(area.work);
    shared().value = area.job.run(area.data, area.work);
    for (int run = 1; run < area.job.runs_to_finish; ++run) (void)area.job.run(area.data, area.work);
    if (area.job.content) {
      const std::string content = area.job.content(area.work);
      if (content.size() > sizeof shared().content) throw std::runtime_error("too much content");
      std::memcpy(shared().content, content.data(), shared().content_bytes = content.size());
    }
    return std::string();
  });
  const ChildEnd counts = run_child([&] {
    begin_empty(area.work);
    begin_allocations(0);
    (void)area.job.run(area.data, area.work);
    shared().allocations = end_allocations();
    return std::string();
  });
  well = end.well() && counts.well();
  if (!well) std::printf("%s: %s%s\n", area.job.name.c_str(), end.said.c_str(), counts.said.c_str());
}

// `points_of`: which of so many allocations.
template <class F>
Counted run_job(const MemoryJob& job, F&& points_of) {
  const TempFolder folder;
  const Area area{job, folder / "data", folder / "work"};
  Said& said = shared();
  said.right = said.errors = said.unreached = 0;
  said.content_bytes = 0;
  const ChildEnd prepared = run_child([&] {
    begin_empty(area.data);
    if (job.prepare) job.prepare(area.data);
    return std::string();
  });
  INFO(job.name << ": " << prepared.said);
  Counted counted;
  bool well = prepared.well();
  if (well) learn(area, well);
  CHECK(well);
  if (!well) return counted;
  const Points points = points_of(said.allocations);
  // So many in one process that its beginning costs little, and so few that what one leaves harms few others.
  constexpr std::size_t at_once = 40;
  for (std::size_t i = 0; i < points.size(); i += at_once)
    run_all(area, points, i, std::min(i + at_once, points.size()), counted);
  counted.points = points.size() - said.unreached;
  counted.right = said.right;
  counted.errors = said.errors;
  return counted;
}

bool wanted(const MemoryJob& job) {
  const char* const only = std::getenv("PENSTOCK_JOB");
  return only == nullptr || job.name.find(only) != std::string::npos;
}

void tell(const MemoryJob& job, const Counted& c) {
  std::printf("| %s | %llu | %llu | %llu | %llu | %llu | %llu | %llu |\n", job.name.c_str(),
              static_cast<unsigned long long>(c.points), static_cast<unsigned long long>(c.right),
              static_cast<unsigned long long>(c.errors), static_cast<unsigned long long>(c.hung),
              static_cast<unsigned long long>(c.crashed), static_cast<unsigned long long>(c.leaked),
              static_cast<unsigned long long>(c.wrong));
  std::fflush(stdout);
  for (const std::string& words : c.words) std::fprintf(stderr, "%s, %s\n", job.name.c_str(), words.c_str());
}

Points all_points(std::uint64_t allocations) {
  const std::uint64_t first = number_of("PENSTOCK_FIRST", 1), step = number_of("PENSTOCK_STEP", 1);
  const std::uint64_t last = number_of("PENSTOCK_LAST", allocations + allocations / 20 + 5);  // as threads have it
  Points points;
  for (std::uint64_t n = first; n <= last; n += step) points.push_back(n);
  return points;
}

void require_fine(const MemoryJob& job, const Counted& counted) {
  INFO(job.name);
  for (const std::string& words : counted.words) UNSCOPED_INFO(words);
  CHECK(counted.fine());
  CHECK(counted.points != 0);
}

}  // namespace

// Every one: tests/campaigns/no_memory.
TEST_CASE("every allocation may fail", "[.campaign]") {
  for (const MemoryJob& job : memory_jobs()) {
    if (!wanted(job)) continue;
    const Counted counted = run_job(job, all_points);
    tell(job, counted);
    CHECK(counted.fine());
  }
}

TEST_CASE("every allocation of what failed once may fail") {
  for (const MemoryJob& job : memory_jobs()) {
    if (job.name != "LMDB" && job.name != "emulated device, late, checked") continue;
    require_fine(job, run_job(job, all_points));
  }
}

// Some, drawn by PENSTOCK_DRAW.
TEST_CASE("an allocation that fails ends a run right or with an error") {
  std::uint64_t draw = 0x9e3779b97f4a7c15;
  if (const char* const text = std::getenv("PENSTOCK_DRAW"))
    for (const char* c = text; *c != 0; ++c) draw = (draw ^ static_cast<unsigned char>(*c)) * 0x100000001b3;
  for (const MemoryJob& job : memory_jobs()) {
    if (!wanted(job)) continue;
    const Counted counted = run_job(job, [&](std::uint64_t allocations) {
      Points points;
      for (std::size_t i = 0; i < number_of("PENSTOCK_POINTS", 8); ++i) {
        draw = draw * 6364136223846793005 + 1442695040888963407;
        points.push_back(1 + (draw >> 33) % allocations);
      }
      return points;
    });
    require_fine(job, counted);
  }
}
