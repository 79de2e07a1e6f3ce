// SPDX-License-Identifier: Apache-2.0
// A program that runs beside the test, tells what it is doing, and may be killed at any moment.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace penstock_test {

using Clock = std::chrono::steady_clock;
using Variables = std::map<std::string, std::string>;

class Child {
 public:
  // Starts the program words[0] with `more` variables in its environment; what it prints goes to the file `output`.
  // It may live for two minutes.
  Child(std::vector<std::string> words, const Variables& more, std::string output);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // For a program that tells nothing itself: `line` counts as told from when `seen` is first true of its process.
  void watch(std::string line, std::function<bool(pid_t)> seen);

  // Waits until a line that begins with `word` has been told `times` times, until `when`, or for the child's end; true
  // in the first case.
  bool wait_for(std::string_view word, unsigned times, Clock::time_point when);
  // Waits until `when`, or for the child's end.
  void wait_until(Clock::time_point when);
  void kill() const;
  // Where all is well the program exits with this status, not with 0.
  void ends_with(int status) { good_status_ = status; }
  // Waits for the end. True where kill() was it; false where the program ended by itself and well.
  // @throws std::runtime_error with what the program printed for any other end.
  bool was_killed();

  unsigned told(std::string_view word) const;
  // Every line it told, in order.
  const std::vector<std::string>& lines() const { return lines_; }
  Clock::time_point started() const { return started_; }

 private:
  // Takes what was told; false once nothing more can come.
  bool listen(Clock::time_point when);
  bool look();

  pid_t pid_ = -1;
  int from_child_ = -1;
  bool waited_ = false;
  int good_status_ = 0;
  std::string output_, partial_;
  std::vector<std::string> lines_;
  std::string watched_line_;
  std::function<bool(pid_t)> watched_;
  Clock::time_point started_;
};

// Called in the child: sends a line to whoever started this program.
void tell(const std::string& line);

// This program itself, running that TEST_CASE only.
std::vector<std::string> this_program(const std::string& test_case);

// The variable's value in this process, empty where it isn't set.
std::string variable(const char* name);

}  // namespace penstock_test
