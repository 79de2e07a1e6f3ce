// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/file_descriptor.hpp>

namespace penstock {

/// File operations that a custom sink needs to survive crashes. Errors are Error(io), or Error(not_found) if a file or
/// folder is missing. All errors name the file and `source`, the sink's name.

/// A file that is appended to. Data that were not flushed are lost when this object ends. One thread at a time.
class PENSTOCK_API OutputFile {
 public:
  /// Opens the file, or creates it if it is missing. Truncates the file to its first `keep_bytes` bytes. The file must
  /// not be shorter than that.
  OutputFile(std::string path, std::uint64_t keep_bytes, std::string_view source);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Appends bytes. If the disk is full, the file's end is undefined afterwards.
  void append(std::span<const std::byte> bytes);
  /// Appends text.
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Appends `count` zeros.
  void append_zeros(std::size_t count);
  /// Hands the appended data to the system.
  void flush();
  /// Makes the flushed data survive a power cut.
  void sync();
  /// Flushes and closes the file. Nothing can be appended afterwards. Without this call, errors that the system reports
  /// only when a file is closed are lost, for instance a full disk.
  void close();
  /// The file's size in bytes, including data that are not flushed yet.
  std::uint64_t bytes() const noexcept { return written_ + buffer_.size(); }

 private:
  void write(std::span<const std::byte> bytes);

  std::string path_, source_;
  FileDescriptor file_;
  std::uint64_t written_ = 0;
  std::vector<std::byte> buffer_;
};

/// A lock on a file. At most one process holds the lock, and in that process at most one object.
class PENSTOCK_API FileLock {
 public:
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();
  /// Releases the lock that this object holds, then tries to lock `file`. Creates the file if it is missing. Returns
  /// false if another process or object holds the lock.
  bool take(const std::string& file, std::string_view source);
  /// Whether this object holds the lock.
  bool held() const noexcept { return fd_ >= 0; }
  /// Releases the lock.
  void release() noexcept;

 private:
  int fd_ = -1;
};

/// The lock of a writer that marks unfinished work with a file, the mark. The writer takes the lock before it looks at
/// the store. The locked file is a separate file, whose name is the mark's name and ".lock". Releasing the lock removes
/// the locked file if there is no mark.
class PENSTOCK_API MarkLock {
 public:
  /// Makes an object for the lock of the mark with that name. Does not take the lock.
  explicit MarkLock(std::string mark) : mark_(std::move(mark)), file_(mark_ + ".lock") {}
  ~MarkLock() { release(); }
  /// Takes the lock. Returns false if another process or object holds the lock; `lock_holder(file())` names the
  /// process.
  bool take(std::string_view source) { return lock_.take(file(), source); }
  /// Whether this object holds the lock.
  bool held() const noexcept { return lock_.held(); }
  /// Releases the lock. Removes the locked file if there is no mark.
  void release() noexcept;
  /// The locked file.
  const std::string& file() const noexcept { return file_; }

 private:
  std::string mark_, file_;
  FileLock lock_;
};

/// Returns in words which process holds a lock of the file, for an error's text: `another process (1234, "python3")` or
/// `this process`. Returns `another process` if the system does not show the process.
PENSTOCK_API std::string lock_holder(const std::string& file);

/// Returns a file's size in bytes, or nothing if there is no such file.
PENSTOCK_API std::optional<std::uint64_t> file_bytes(const std::string& file, std::string_view source);
/// Returns a hash for a source's `revision()`, or 0 if the file can't be read. The hash covers the file's size, the
/// time of its last change in nanoseconds, and 4 KiB each at its beginning, in its middle and at its end.
PENSTOCK_API std::uint64_t file_revision(const std::string& file) noexcept;
/// Returns the same hash of an open file, or 0 if the file can't be read.
PENSTOCK_API std::uint64_t file_revision(int descriptor) noexcept;
/// Returns the content of a file, or nothing if there is no such file. A pipe is read if it has data, or if a process
/// has it open for writing.
/// @throws Error(limit_exceeded) above `max_bytes`; Error(invalid_argument) for other pipes and for devices.
PENSTOCK_API std::optional<std::string> read_text(const std::string& file, std::string_view source,
                                                  std::uint64_t max_bytes = 16u << 20);
/// Replaces a whole file. With `sync`, the new content survives a power cut. The text is first written to another file,
/// whose name is `file` with `ending` appended. Callers that may replace the same file at the same time must give
/// different endings.
PENSTOCK_API void replace_text(const std::string& file, std::string_view text, bool sync, std::string_view source,
                               std::string_view ending = ".new");
/// Renames a file and replaces any file that has the new name.
PENSTOCK_API void rename_file(const std::string& from, const std::string& to, std::string_view source);
/// Removes a file. Does nothing if there is no such file.
PENSTOCK_API void remove_file(const std::string& file, std::string_view source);
/// Makes a file's content survive a power cut.
PENSTOCK_API void sync_file(const std::string& file, std::string_view source);
/// Makes the names in the file's folder survive a power cut. Some file systems refuse this for every folder. That is
/// not an error: `unsynced_folders` then returns the folder too.
PENSTOCK_API void sync_folder_of(const std::string& file, std::string_view source);
/// Returns the folders that this process could not sync because the file system refuses to, each once, in the order of
/// the first attempts. Any thread.
PENSTOCK_API std::vector<std::string> unsynced_folders();
/// Creates the folder and its parents if they are missing, and makes the new folders survive a power cut.
PENSTOCK_API void make_folder(const std::string& folder, std::string_view source);

}  // namespace penstock
