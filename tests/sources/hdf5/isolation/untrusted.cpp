// SPDX-License-Identifier: Apache-2.0
#include "sources/hdf5/isolation/untrusted.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "support/paths.hpp"

namespace penstock_test {

namespace {

struct Status {
  char state = '\0';  // '\0': there is no such process
  int parent = 0;
};

Status status_of(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  // After the name, which may hold anything.
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  Status status;
  rest >> status.state >> status.parent;
  return status;
}

// Another thread than the first may live on for a moment, and with it the descriptors of the process.
std::size_t threads_of(int process) {
  std::error_code failed;
  std::size_t threads = 0;
  std::filesystem::directory_iterator at("/proc/" + std::to_string(process) + "/task", failed);
  for (; !failed && at != std::filesystem::directory_iterator(); at.increment(failed)) ++threads;
  return threads;
}

}  // namespace

std::vector<int> children(int of) {
  if (of == 0) of = ::getpid();
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (const int process = std::stoi(name); status_of(process).parent == of) found.push_back(process);
  }
  return found;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

bool all_gone(const std::vector<int>& processes) {
  for (int tries = 0; tries < 500; ++tries) {
    bool gone = true;
    for (const int process : processes) {
      const char state = status_of(process).state;
      gone = gone && (state == '\0' || state == 'X' || (state == 'Z' && threads_of(process) <= 1));
    }
    if (gone) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

penstock::Hdf5 untrusted(std::string path, std::size_t keep_bytes) {
  penstock::Hdf5 options{.path = std::move(path), .max_kept_bytes = keep_bytes, .isolate = true};
  return options;
}

penstock::Hdf5 Lie::source(std::string path, std::uint32_t patience_ms) const {
  penstock::Hdf5 options = untrusted(std::move(path));
  options.reader = path_of("lying_reader");
  options.patience_ms = patience_ms;
  ::setenv("PENSTOCK_TEST_READER", path_of("reader").c_str(), 1);
  return options;
}

}  // namespace penstock_test
