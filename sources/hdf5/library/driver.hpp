// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Opens a file for reading through this project's driver for the library. The driver reads like the library's usual
/// driver. While a ReadProbe exists, the driver only notes where the library would read raw data. If the file can't be
/// opened, returns an empty Handle, and sets `said` to the library's reason. Call under the lock.
Handle open_through_driver(const char* path, std::string& said);

/// While the object exists, the driver does not read raw data that the library asks for, and notes where they are. Use
/// it around calls that do nothing with these data. Use it under the lock, one at a time.
class ReadProbe {
 public:
  ReadProbe();
  ReadProbe(const ReadProbe&) = delete;
  ReadProbe& operator=(const ReadProbe&) = delete;
  ~ReadProbe();

  struct Piece {
    std::uint64_t offset = 0, bytes = 0;
  };
  /// Returns the piece of the file that was to be read; none if there was no such piece, or several.
  std::optional<Piece> piece() const noexcept { return pieces_ == 1 ? std::optional(piece_) : std::nullopt; }

  void note(std::uint64_t offset, std::uint64_t bytes) noexcept;

 private:
  Piece piece_;
  unsigned pieces_ = 0;
};

/// Identifies a file, and shows whether it was changed.
struct FileState {
  dev_t device{};
  ino_t inode{};
  std::uint64_t bytes = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  ///< time of the file's last change

  friend bool operator==(const FileState&, const FileState&) = default;
};

FileState state_of(const struct stat& status) noexcept;

/// While the object exists, it notes the files that the library opens, or tries to open, through the driver. Use it
/// under the lock, one at a time.
class OpenRecorder {
 public:
  OpenRecorder();
  OpenRecorder(const OpenRecorder&) = delete;
  OpenRecorder& operator=(const OpenRecorder&) = delete;
  ~OpenRecorder();

  struct OpenedFile {
    std::string path;
    FileState state;
  };
  const std::vector<OpenedFile>& opened() const noexcept { return opened_; }
  /// Returns the path of a file that could not be opened in any of the places where the library looked; empty if there
  /// is no such file.
  std::string lost() const;
  /// Returns each path at which the library could not open a file.
  const std::vector<std::string>& failed() const noexcept { return failed_; }

  void note(std::string_view path, const FileState* state);

 private:
  std::vector<OpenedFile> opened_;
  std::vector<std::string> failed_;
};

}  // namespace penstock::hdf5
