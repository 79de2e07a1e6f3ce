#pragma once

#include <cstdint>
#include <string>

#include "library.hpp"

namespace penstock::hdf5 {

/// A driver of the HDF5 library for a file whose raw data is there already: the library allocates it where it is told
/// that it lies, and writes none of it. What else it writes comes behind it, but for the superblock, which is the
/// file's first bytes. Under the lock, one at a time.
class WritingDriver {
 public:
  /// The file's first `data_end` bytes are its data.
  WritingDriver(std::string file, std::uint64_t data_end);
  WritingDriver(const WritingDriver&) = delete;
  WritingDriver& operator=(const WritingDriver&) = delete;
  ~WritingDriver();

  /// A new HDF5 file. None where it can't be made: `said` is then what the library says.
  Handle create(std::string& said);
  /// Where the next raw data lies that the library allocates; other data of its gets a place behind.
  void next_data(std::uint64_t offset) noexcept;
  /// What the system said where it failed; 0 where nothing did.
  int failure() const noexcept;
};

}  // namespace penstock::hdf5
