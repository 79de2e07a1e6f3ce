#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// A driver of the HDF5 library for a file whose raw data is there already, as far as it is: the library allocates it
/// where it is told that it lies, and writes none of it. What else it writes comes after it, but for the superblock,
/// which is the file's first bytes. It locks nothing. Lives as long as the file is open; under the lock.
class WritingDriver {
 public:
  /// The file is there; its first `data_end` bytes are its data.
  WritingDriver(std::string file, std::uint64_t data_end);
  WritingDriver(const WritingDriver&) = delete;
  WritingDriver& operator=(const WritingDriver&) = delete;
  ~WritingDriver();

  /// A new HDF5 file. None where it can't be made: `said` is then what the library says.
  Handle create(std::string& said);
  /// Where the next raw data lies that the library allocates; other data of its gets a place after.
  void next_data(std::uint64_t offset) noexcept;
  /// What the system said where it failed to write, which the library is not told; 0 where nothing did.
  int failure() const noexcept;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace penstock::hdf5
