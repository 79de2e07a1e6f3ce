// SPDX-License-Identifier: Apache-2.0
#include "slow_inputs/slow_inputs.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "core/help.hpp"
#include "support/catch.hpp"

namespace penstock_test {

namespace {

constexpr double most_growth = 6;
// Below it a process's growth is made of pages and of what libraries set up once.
constexpr double least_megabytes = 24;
// A measurement is repeated for so long: the clock's grain and a cold cache must not matter.
constexpr double least_seconds = 0.05;
// Other processes may have had the caches.
constexpr int most_tries = 4;
// What an error may say, in bytes, whatever is in the input.
constexpr std::size_t longest_message = 8000;
// Sanitizers take their time, and memory of their own.
double slowness() { return help::sanitized() ? 20 : 1; }

// What a process says of its work. Goes through a pipe.
struct Told {
  double seconds = 0, megabytes = 0;
  int code = -1;  // of the Error that was thrown; -1: none
  bool other_exception = false;
  std::size_t message_bytes = 0;
  char message[400] = {};

  void keep(const char* text) {
    message_bytes = std::strlen(text);
    std::snprintf(message, sizeof message, "%s", text);
  }
};

struct Ended {
  Told told;
  std::string fault;  // how the process ended before its time
};

double seconds_of(const rusage& used) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

rusage used_by(int whom) {
  rusage used{};
  ::getrusage(whom, &used);
  return used;
}

// Seconds of this process's threads, and of processes that it started and that are over.
double cpu_seconds() {
  timespec own{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  return static_cast<double>(own.tv_sec) + static_cast<double>(own.tv_nsec) * 1e-9 +
         seconds_of(used_by(RUSAGE_CHILDREN));
}

double resident_megabytes() {
  std::ifstream in("/proc/self/statm");
  double all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

double peak_megabytes() {
  return static_cast<double>(used_by(RUSAGE_SELF).ru_maxrss + used_by(RUSAGE_CHILDREN).ru_maxrss) * 1024 / 1e6;
}

// Runs `work` in a process that is killed where it takes more than so many seconds of CPU.
Ended in_process(double most_seconds, const std::function<void(Told&)>& work) {
  int ends[2] = {};
  if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    ::close(ends[0]);
    const auto seconds = static_cast<rlim_t>(std::ceil(most_seconds));
    const rlimit limit{seconds, seconds + 1};
    ::setrlimit(RLIMIT_CPU, &limit);
    // Not as the test program answers them.
    for (const int signal : {SIGXCPU, SIGTERM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, SIG_DFL);
    Told told;
    try {
      work(told);
    } catch (const penstock::Error& error) {
      told.code = static_cast<int>(error.code());
      told.keep(error.what());
    } catch (const std::exception& failed) {
      told.other_exception = true;
      told.keep(failed.what());
    }
    ::_exit(::write(ends[1], &told, sizeof told) == sizeof told ? 0 : 1);
  }
  ::close(ends[1]);
  Ended ended;
  const bool whole = ::read(ends[0], &ended.told, sizeof ended.told) == sizeof ended.told;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
    ended.fault = "is killed after " + std::to_string(std::llround(std::ceil(most_seconds))) + " s of CPU";
  else if (WIFSIGNALED(status))
    ended.fault = "dies of signal " + std::to_string(WTERMSIG(status));
  else if (!whole)
    ended.fault = "ends without a word";
  return ended;
}

Ended made(const SlowInput& input, const TempFolder& folder, std::size_t n) {
  Ended ended = in_process(60 * slowness(), [&](Told&) { input.make(folder, n); });
  if (ended.fault.empty() && ended.told.message_bytes != 0) ended.fault = ended.told.message;
  if (!ended.fault.empty()) ended.fault = "the generator " + ended.fault;
  return ended;
}

Ended measured(const SlowInput& input, const TempFolder& folder, double most_seconds) {
  return in_process(most_seconds + 1, [&](Told& told) {
    const auto once = [&] {
      try {
        input.use(folder);
      } catch (const penstock::Error& error) {
        told.code = static_cast<int>(error.code());
        told.keep(error.what());
      }
    };
    // Memory that is given back stays with the process: at n and at 4 n it is taken from the system once.
    ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
    ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
    ::malloc_trim(0);
    const double before = resident_megabytes(), begun = cpu_seconds();
    int rounds = 0;
    do {
      once();
      // What it needs is what it needs the first time.
      if (rounds++ == 0) told.megabytes = std::max(0.0, peak_megabytes() - before);
      told.seconds = cpu_seconds() - begun;
    } while (told.seconds < least_seconds && rounds < 10000);
    told.seconds /= rounds;
  });
}

// How many times as long 16 n takes as 4 n or, if that is too long, 64 n as 16 n. Where an input outgrows the caches,
// one step costs more than it should and a later one does not. Work that is more than linear grows at each step.
double growth_after(const Told& at_4n, const SlowInput& input, double most_seconds) {
  constexpr double too_long = std::numeric_limits<double>::infinity();
  double before = at_4n.seconds, growth = too_long;
  for (const std::size_t times : {std::size_t{16}, std::size_t{64}}) {
    const TempFolder folder;
    if (!made(input, folder, input.size * times).fault.empty()) return too_long;
    growth = too_long;
    double seconds = too_long;
    for (int tries = 0; tries < most_tries && growth > most_growth; ++tries) {
      const Ended ended = measured(input, folder, most_growth * most_seconds);
      if (!ended.fault.empty() || ended.told.code != at_4n.code) return too_long;
      seconds = std::min(seconds, ended.told.seconds);
      growth = seconds / before;
      if (growth < 2) return too_long;  // so large an input ends otherwise, and early
    }
    if (growth <= most_growth) break;
    before = seconds;
  }
  return growth;
}

std::string number(double value, const char* form = "%.3g") {
  char text[40];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

std::uint64_t bytes_in(const TempFolder& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file() && !entry.is_symlink()) bytes += entry.file_size();
  return bytes;
}

}  // namespace

std::vector<std::string> faults_of(const SlowInput& input, const Bounds& bounds) {
  const double most_seconds = bounds.seconds * slowness();
  const TempFolder folders[2];
  Told told[2];
  for (int i = 0; i < 2; ++i) {
    const Ended ended = made(input, folders[i], input.size * (i == 0 ? 1 : 4));
    if (!ended.fault.empty()) return {ended.fault};
  }
  std::vector<std::string> faults;
  for (int tries = 0; tries < most_tries; ++tries) {
    for (int i = 0; i < 2; ++i) {
      Ended ended = measured(input, folders[i], most_seconds);
      if (!ended.fault.empty()) return {(i == 0 ? "at n, it " : "at 4 n, it ") + ended.fault};
      // The least of all tries is what it takes.
      if (tries != 0) ended.told.seconds = std::min(ended.told.seconds, told[i].seconds);
      told[i] = ended.told;
    }
    faults.clear();
    const double growth = told[1].seconds / told[0].seconds, more = told[1].megabytes / told[0].megabytes;
    const bool last_try = tries == most_tries - 1;
    if (growth > most_growth && !(last_try && growth_after(told[1], input, most_seconds) <= most_growth))
      faults.push_back("4 times the input takes " + number(growth) + " times as long: " + number(told[0].seconds) +
                       " s, then " + number(told[1].seconds) + " s");
    if (told[1].seconds > most_seconds) faults.push_back("it takes " + number(told[1].seconds) + " s");
    if (!help::sanitized()) {
      if (told[1].megabytes > least_megabytes && more > most_growth)
        faults.push_back("4 times the input takes " + number(more) + " times the memory: " + number(told[0].megabytes) +
                         " MB, then " + number(told[1].megabytes) + " MB");
      if (told[1].megabytes > bounds.megabytes) faults.push_back("it takes " + number(told[1].megabytes) + " MB");
    }
    if (faults.empty()) break;
  }
  for (const Told& t : told) {
    const int wanted = input.refused ? static_cast<int>(*input.refused) : -1;
    if (t.other_exception || t.code != wanted) {
      faults.push_back(t.message_bytes == 0 ? "it is taken" : "it ends otherwise: " + std::string(t.message));
      break;
    }
    if (t.message_bytes > longest_message)
      faults.push_back("its message has " + std::to_string(t.message_bytes) + " bytes");
  }
  std::printf("%9.1f KB %9.2f ms %6.1f MB;  x 4: %9.2f ms %6.1f MB   %s\n",
              static_cast<double>(bytes_in(folders[0])) / 1e3, told[0].seconds * 1e3, told[0].megabytes,
              told[1].seconds * 1e3, told[1].megabytes, input.name.c_str());
  return faults;
}

void check_inputs(std::string_view parser, const Bounds& bounds, const std::vector<SlowInput>& inputs) {
  for (const SlowInput& input : inputs) {
    for (const std::string& fault : faults_of(input, bounds)) FAIL_CHECK(parser << ", " << input.name << ": " << fault);
  }
}

}  // namespace penstock_test
