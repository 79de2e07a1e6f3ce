// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "library/access.hpp"

namespace penstock::hdf5 {

class RunningReaders;

/// An HDF5 file, open for reading. Immutable; any thread.
class File {
 public:
  /// @throws Error(not_found | io); Error(corrupt) if the file is not an HDF5 file, or is damaged;
  /// Error(invalid_argument) if `path` is empty, or is not a regular file. With `how.isolate`, also @throws
  /// Error(closed | unsupported | limit_exceeded).
  File(std::string path, const Hdf5& how, const std::shared_ptr<RunningReaders>& running);

  const std::string& path() const noexcept { return path_; }
  Access& access() const noexcept { return *access_; }
  /// Returns the file's size when it was opened.
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Returns the file's `file_revision` when it was opened.
  std::uint64_t revision() const noexcept { return revision_; }
  /// Returns the present size of the file.
  std::uint64_t bytes_now() const noexcept;

  /// Fills `out` with the bytes from `offset` on, without the library. @throws Error(io).
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  /// Asks the system to read bytes of the file from the disk. Returns false if the first of them is in memory already.
  bool will_read(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  /// @throws Error(forked) in a child made by fork().
  void require_own_process() const;

 private:
  std::string path_;
  std::unique_ptr<Access> access_;
  int fd_ = -1;  ///< `access_` owns it
  std::uint64_t bytes_ = 0, revision_ = 0;
  pid_t owner_ = 0;
};

}  // namespace penstock::hdf5
