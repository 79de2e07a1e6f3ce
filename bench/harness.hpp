// SPDX-License-Identifier: Apache-2.0
// Measures two sides in rounds, on the same data, in one process. The order is ours, the limit, the limit, ours, and so
// on.
//
// Rounds in which something else used the machine are dropped and repeated. The median of the rounds' ratios is judged,
// because clocks that drift and neighbours that come and go affect both sides of a round alike.
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
  unsigned threads = 2;        // threads of both sides
  unsigned rounds = 7;         // rounds that each row needs
  bool quick = false;          // whether to use tiny data and two rounds, and to judge nothing
  std::filesystem::path data;  // where generated data is kept
  bool photographs = true;     // whether to use photographs, if they are installed
  std::string python;          // Python whose decoders are measured beside; empty for none
};

// Which value is compared with the goal.
enum class Judged : std::uint8_t { ratio, ours };
enum class Better : std::uint8_t { higher, lower };

struct RowSpec {
  std::string name;
  std::string what;  // words for people: "ours | the limit"
  std::string unit;  // unit of `ours` and `limit`
  double goal = 0;
  Better better = Better::higher;
  Judged judged = Judged::ratio;
  double max_foreign_cores = 0.1;  // a round with more load of other processes is dropped
  bool warm_up = true;             // whether one more round comes first, which is not counted
};

// The result of one side in one round.
struct Timing {
  double value = 0;  // the value, in the row's unit
  double cpu_s = 0;  // CPU seconds of the process; 0 if they were not measured
};
using Side = std::function<Timing()>;

struct Row {
  RowSpec spec;
  double ours = 0, limit = 0;  // medians of the rounds
  double ratio = 0;            // median of ours / limit of the same round
  double low = 0, high = 0;    // least and greatest ratio of a round
  double cpu_ratio = 0;        // median ratio of CPU seconds, or 0; above 1, the library computes more than the limit
  unsigned rounds = 0;         // number of rounds that count
  unsigned dropped = 0;        // number of rounds that were dropped because of other load
  bool quiet = true;           // false if too few rounds were quiet, so that other rounds count too
  std::vector<std::string> notes;

  bool reached() const;
};

// Runs both sides in turn. @throws what the sides throw.
Row compare(const RowSpec& spec, const Settings& settings, const Side& ours, const Side& limit);

// Measures wall time, and CPU time of all threads of the process, since it was made.
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

// Shows `text` on stderr, if stderr is a terminal.
void progress(const std::string& text);

}  // namespace penstock::bench
