// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// A driver of the HDF5 library for a file that already has its raw data. The library allocates raw data at the offsets
/// that `next_data` sets, and the driver does not write them. Everything else comes after the data, except the
/// superblock, which is at the beginning of the file. The driver takes no file locks. The object must exist as long as
/// the file is open. Use it under the lock.
class WritingDriver {
 public:
  /// `file` must exist. Its first `data_end` bytes are the data.
  WritingDriver(std::string file, std::uint64_t data_end);
  WritingDriver(const WritingDriver&) = delete;
  WritingDriver& operator=(const WritingDriver&) = delete;
  ~WritingDriver();

  /// Makes the constructor's `file` an HDF5 file. If that fails, returns an empty handle, and sets `said` to the
  /// library's reason.
  Handle create(std::string& said);
  /// Sets the offset at which the library allocates the next raw data. Without this call, data are allocated after
  /// everything else.
  void next_data(std::uint64_t offset) noexcept;
  /// Returns the system's error code of the first failure to open, write or close the file; 0 if there was no failure.
  /// The library does not report failed writes.
  int failure() const noexcept;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace penstock::hdf5
