// SPDX-License-Identifier: Apache-2.0
// Kills at random moments, counted. PENSTOCK_KILLS says how many of each kind (10), PENSTOCK_SEED which moments.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "killed_child.hpp"

namespace penstock_test {

// What a child tells: "begun" once it is at work, "finished" when nothing is left to do, and in between the beginning
// and the end of what is most delicate, e.g. "saving" and "saved".
struct Delicate {
  std::string begins, ends;
};

class Kills {
 public:
  Kills(std::string what, std::vector<Delicate> delicate);

  // True when as many processes as are wanted have died.
  bool enough() const { return killed() >= wanted_; }
  // How long a process takes that nobody kills.
  void measure(Child& child);
  // Kills the process at a random moment, unless there are enough, or an earlier process of this run had finished; the
  // more of this run have died, the later. True where it died, false where it had ended before.
  bool strike(Child& child, unsigned died_before);
  // For a child that tells nothing: the one that has just died had finished before.
  void had_finished();
  void run_completed();

  std::mt19937_64& random() { return random_; }
  unsigned killed() const { return early_ + middle_ + late_; }
  // That most kills were neither too early nor too late; in a long run a line for the table too.
  void check() const;

 private:
  void hurry(Child& child, unsigned died_before);

  std::string what_;
  std::vector<Delicate> delicate_;
  std::mt19937_64 random_;
  unsigned wanted_;
  bool long_run_;
  Clock::duration until_begun_{}, at_work_{};
  bool finished_ = false;  // by a process that died after it
  unsigned runs_ = 0, survived_ = 0;
  unsigned early_ = 0, middle_ = 0, inside_delicate_ = 0, late_ = 0;
};

}  // namespace penstock_test
