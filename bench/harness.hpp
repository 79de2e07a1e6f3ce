// SPDX-License-Identifier: Apache-2.0
// Two sides of one measurement, in rounds: ours, the limit, the limit, ours, ... on the same data, in one process.
//
// Rounds in which something else used the machine are dropped and repeated. What is judged is the median of the ratios
// of single rounds: clocks that drift and neighbours that come and go touch both sides of a round alike.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "foreign_load.hpp"

namespace penstock::bench {

struct Settings {
  unsigned threads = 2;        // on both sides
  unsigned rounds = 7;         // of each row
  bool quick = false;          // tiny data, two rounds, nothing is judged
  std::filesystem::path data;  // where generated data is kept
  bool photographs = true;     // use installed photographs where there are any
};

// What is compared with the goal.
enum class Judged : std::uint8_t { ratio, ours };
enum class Better : std::uint8_t { higher, lower };

struct RowSpec {
  std::string name;
  std::string what;  // for people: ours against the limit
  std::string unit;  // of ours and limit
  double goal = 0;
  Better better = Better::higher;
  Judged judged = Judged::ratio;
  double max_foreign_cores = 0.1;  // other load above this drops the round
  bool warm_up = true;             // one round before the first, not counted
};

// One side of one round.
struct Timing {
  double value = 0;  // in the row's unit
  double cpu_s = 0;  // CPU seconds of the process after it; 0 = not measured
};
using Side = std::function<Timing()>;

struct Row {
  RowSpec spec;
  double ours = 0, limit = 0;  // medians of the rounds
  double ratio = 0;            // median of ours / limit of the same round
  double low = 0, high = 0;    // least and greatest of those
  double cpu_ratio = 0;        // the same of CPU seconds, or 0: above 1 the library computes more than the limit does
  unsigned rounds = 0;         // that count
  unsigned dropped = 0;        // that did not, because of other load
  bool quiet = true;           // false: too few rounds were quiet, so loud ones count as well
  std::vector<std::string> notes;

  bool reached() const;
};

// Runs both sides in turn. @throws what they throw.
Row compare(const RowSpec& spec, const Settings& settings, const Side& ours, const Side& limit);

// Wall and CPU time (of all threads of the process) since it was made.
class Stopwatch {
 public:
  Stopwatch();
  double wall_s() const;
  double cpu_s() const;

 private:
  std::chrono::steady_clock::time_point begun_;
  double cpu_begun_;
};

double median(std::vector<double> values);

// Shows on stderr what is being done, where that is a terminal.
void progress(const std::string& text);

}  // namespace penstock::bench
