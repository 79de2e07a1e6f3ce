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
  /// @throws Error(not_found | io); Error(corrupt) where it is no HDF5 file, or a damaged one.
  File(std::string path, const Hdf5& how, const std::shared_ptr<RunningReaders>& running);

  const std::string& path() const noexcept { return path_; }
  Access& access() const noexcept { return *access_; }
  /// When it was opened.
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// `file_revision` of it, then.
  std::uint64_t revision() const noexcept { return revision_; }
  /// Size of the file as it is now.
  std::uint64_t bytes_now() const noexcept;

  /// Reads at an offset, without the library. @throws Error(io).
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  /// @throws Error(forked) in a child made by fork().
  void require_own_process() const;

 private:
  std::string path_;
  std::unique_ptr<Access> access_;
  int fd_ = -1;  ///< the access's
  std::uint64_t bytes_ = 0, revision_ = 0;
  pid_t owner_ = 0;
};

}  // namespace penstock::hdf5
