#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Opens a file, for reading, through our own driver of the library: it reads as the library's usual one does, and can
/// say where the library would read instead of reading. None where it can't be opened: `said` is then what the library
/// says. Under the lock.
Handle open_through_driver(const char* path, std::string& said);

/// While it lives, the library's reads of raw data read nothing: the first one is noted. For calls that do
/// nothing with what they read but hand it on. Under the lock, one at a time.
class ReadProbe {
 public:
  ReadProbe();
  ReadProbe(const ReadProbe&) = delete;
  ReadProbe& operator=(const ReadProbe&) = delete;
  ~ReadProbe();

  struct Piece {
    std::uint64_t offset = 0, bytes = 0;
  };
  /// The one piece that was to be read; none when it was nothing, or more than one.
  std::optional<Piece> piece() const noexcept { return pieces_ == 1 ? std::optional(piece_) : std::nullopt; }

  void note(std::uint64_t offset, std::uint64_t bytes) noexcept;

 private:
  Piece piece_;
  unsigned pieces_ = 0;
};

/// Which file one is, and what it was like when it was looked at.
struct FileState {
  dev_t device{};
  ino_t inode{};
  std::uint64_t bytes = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  ///< of its last change

  friend bool operator==(const FileState&, const FileState&) = default;
};

FileState state_of(const struct stat& status) noexcept;

/// While it lives, files that the library opens through the driver, and tries to, are noted. Under the lock, one at a
/// time.
class OpensNoted {
 public:
  OpensNoted();
  OpensNoted(const OpensNoted&) = delete;
  OpensNoted& operator=(const OpensNoted&) = delete;
  ~OpensNoted();

  struct Opened {
    std::string path;
    FileState state;
  };
  const std::vector<Opened>& opened() const noexcept { return opened_; }
  /// A file that was opened nowhere, of all the places where it was looked for; empty: none.
  std::string lost() const;
  /// Each place where one was not to be opened.
  const std::vector<std::string>& failed() const noexcept { return failed_; }

  void note(std::string_view path, const FileState* state);

 private:
  std::vector<Opened> opened_;
  std::vector<std::string> failed_;
};

}  // namespace penstock::hdf5
