// SPDX-License-Identifier: Apache-2.0
// The records of one pipeline written by every sink, and by a cache, for tests of what may go wrong around a store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace penstock_test {

struct HowToWrite {
  bool sync = true;
  std::uint64_t commit_every = 10;  // records
};

struct StoreJob {
  std::string name;
  // Writes to a folder what is not there yet; how many records, or slides, it wrote. For a cache it runs an epoch.
  // @throws penstock::Error.
  std::function<std::uint64_t(const std::string& folder, const HowToWrite& how)> write;
  // Everything that can be read from a finished store. @throws penstock::Error where there is none.
  std::function<std::string(const std::string& folder)> content;
  std::uint64_t items = 0;  // what `write` writes to an empty folder
  bool shared = false;      // several may write at once, each other items
  bool cache = false;
};

const std::vector<StoreJob>& store_jobs();
// Where a filter of the environment, PENSTOCK_STORE, names one, only that.
std::vector<StoreJob> chosen_jobs();

// The names of all files below a folder, sorted.
std::vector<std::string> names_in(const std::string& folder);

// A child process.
struct ChildEnd {
  int exit_code = -1;
  int signal = 0;    // that ended it
  std::string said;  // what `act` returned, or the error that left it: "io: the disk ..."
  bool well() const { return signal == 0 && exit_code == 0; }
};
class RunningChild {
 public:
  explicit RunningChild(const std::function<std::string()>& act);
  RunningChild(const RunningChild&) = delete;
  RunningChild& operator=(const RunningChild&) = delete;
  RunningChild(RunningChild&& other) noexcept;
  ~RunningChild();
  ChildEnd end();

 private:
  int pid_ = -1, from_ = -1;
};
ChildEnd run_child(const std::function<std::string()>& act);

// A number in the environment.
std::uint64_t number_of(const char* variable, std::uint64_t otherwise);

}  // namespace penstock_test
