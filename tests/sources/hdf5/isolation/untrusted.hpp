// SPDX-License-Identifier: Apache-2.0
// Readers of files that are not trusted, seen from outside.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <penstock/sources/hdf5.hpp>

namespace penstock_test {

// Children of a process, of this one where none is named; those that ended and were not waited for among them.
std::vector<int> children(int of = 0);
std::size_t open_descriptors();
// True once all of these processes have ended, waited for or not; false after five seconds.
bool all_gone(const std::vector<int>& processes);

penstock::Hdf5 untrusted(std::string path, std::size_t keep_bytes = 0);

// While it lives, readers are liars that do this: see hdf5_lying_reader.cpp.
class Lie {
 public:
  explicit Lie(const std::string& what) { ::setenv("PENSTOCK_TEST_LIE", what.c_str(), 1); }
  Lie(const Lie&) = delete;
  Lie& operator=(const Lie&) = delete;
  ~Lie() { ::unsetenv("PENSTOCK_TEST_LIE"); }
  penstock::Hdf5 source(std::string path, std::uint32_t patience_ms = 10'000) const;
};

}  // namespace penstock_test
