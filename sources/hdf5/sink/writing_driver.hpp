// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// A driver with which the HDF5 library writes a file. The file may already have raw data at its beginning. The library
/// allocates these data at the offsets that `next_data` sets, and the driver does not write them again. Everything else
/// comes after these data, except the superblock, which is at the beginning of the file. The driver takes no file
/// locks. The object must exist as long as the file is open. Use it under the lock.
class WritingDriver {
 public:
  /// `file` must exist. Raw data that are already written are in its first `data_end` bytes; 0: there are none.
  WritingDriver(std::string file, std::uint64_t data_end);
  WritingDriver(const WritingDriver&) = delete;
  WritingDriver& operator=(const WritingDriver&) = delete;
  ~WritingDriver();

  /// Makes the constructor's `file` an HDF5 file. If that fails, returns an empty handle, and sets `said` to the
  /// library's reason.
  Handle create(std::string& said);
  /// Sets the offset at which the library allocates the next raw data. Without this call, they are allocated after
  /// everything that was allocated before.
  void next_data(std::uint64_t offset) noexcept;
  /// Returns the system's error code of the first failure to open, write or close the file; 0 if there was no failure.
  /// The library does not report failed writes.
  int failure() const noexcept;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace penstock::hdf5
