// SPDX-License-Identifier: Apache-2.0
// Random HDF5 files: every kind of value, layout, chunk, filter and format that the library reads.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sources/hdf5/files.hpp"

namespace penstock_test {

class H5Draw {
 public:
  explicit H5Draw(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::uint64_t bits() { return random_(); }

 private:
  std::mt19937_64 random_;
};

// One to three datasets with the same number of rows.
H5Files random_files(H5Draw& draw);
// Another file whose fields are the same: stored differently, with a number of rows of its own.
H5Files like(const H5Files& files, H5Draw& draw);
// A line that says what was drawn.
std::string description(const H5Files& files);

}  // namespace penstock_test
