// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// A driver of the HDF5 library for a file that already has its raw data. The library allocates raw data at the offsets
/// that `next_data` sets, and writes none of it. Everything else that it writes comes after the data, except the
/// superblock, the file's first bytes. It locks nothing. Must live as long as the file is open. Use under the lock.
class WritingDriver {
 public:
  /// The file must exist; its first `data_end` bytes are its data.
  WritingDriver(std::string file, std::uint64_t data_end);
  WritingDriver(const WritingDriver&) = delete;
  WritingDriver& operator=(const WritingDriver&) = delete;
  ~WritingDriver();

  /// Creates an HDF5 file. None if it can't be created; then `said` is the library's reason.
  Handle create(std::string& said);
  /// Sets the offset at which the library allocates the next raw data. Other data go after all of it.
  void next_data(std::uint64_t offset) noexcept;
  /// Returns the system's error of a failed write, which the library does not report; 0: none failed.
  int failure() const noexcept;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace penstock::hdf5
