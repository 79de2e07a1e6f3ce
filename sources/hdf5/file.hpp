#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "library.hpp"

namespace penstock::hdf5 {

/// An HDF5 file, open for reading. Immutable; any thread.
class File {
 public:
  /// @throws Error(not_found | io); Error(corrupt) where it is no HDF5 file, or a damaged one.
  explicit File(std::string path);

  const std::string& path() const noexcept { return path_; }
  hid_t id() const noexcept { return id_.get(); }
  /// When it was opened.
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// As it is now.
  std::uint64_t bytes_now() const noexcept;

  /// Reads at an offset, without the library. @throws Error(io).
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  /// @throws Error(forked) in a child made by fork().
  void require_own_process() const;

 private:
  std::string path_;
  Handle id_;
  int fd_ = -1;  ///< the library's
  std::uint64_t bytes_ = 0;
  pid_t owner_ = 0;
};

}  // namespace penstock::hdf5
