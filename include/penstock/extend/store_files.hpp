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

/// What a sink of your own needs of the file system to survive crashes. Errors are Error(io), or Error(not_found) where
/// a file or folder is missing, with the file and with `source`, the sink's name.

/// A file that is appended to. What was not flushed is lost with it. One thread at a time.
class PENSTOCK_API OutputFile {
 public:
  /// Makes the file where it is missing, and cuts it off after its first `keep_bytes`, which it must have.
  OutputFile(std::string path, std::uint64_t keep_bytes, std::string_view source);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Appends bytes. Where the disk is full the file's end is undefined afterwards.
  void append(std::span<const std::byte> bytes);
  /// Appends text, as `append` appends bytes.
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Appends `count` zeros.
  void append_zeros(std::size_t count);
  /// Hands what was appended to the system.
  void flush();
  /// Makes what was flushed last through a power cut.
  void sync();
  /// Flushes and closes it: nothing can be appended then. Without it what the system says at the end is lost, as of a
  /// full disk that only a close tells of.
  void close();
  /// The file's size, with what is not flushed yet.
  std::uint64_t bytes() const noexcept { return written_ + buffer_.size(); }

 private:
  void write(std::span<const std::byte> bytes);

  std::string path_, source_;
  FileDescriptor file_;
  std::uint64_t written_ = 0;
  std::vector<std::byte> buffer_;
};

/// Held by one process at a time, and by one object in it.
class PENSTOCK_API FileLock {
 public:
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();
  /// Takes the lock, and makes the file where it is missing. False where another one holds it. Lets go of what it held
  /// before.
  bool take(const std::string& file, std::string_view source);
  /// Whether this object holds it.
  bool held() const noexcept { return fd_ >= 0; }
  /// Lets go of it.
  void release() noexcept;

 private:
  int fd_ = -1;
};

/// The lock of a writer whose unfinished work is marked by a file: taken first, before anything is looked at.
/// It is a file of its own, the mark's name and ".lock", and is removed with the mark: let go of where the mark is
/// gone, it goes too.
class PENSTOCK_API MarkLock {
 public:
  /// The lock of the mark with that name, not taken yet.
  explicit MarkLock(std::string mark) : mark_(std::move(mark)), file_(mark_ + ".lock") {}
  ~MarkLock() { release(); }
  /// Takes the lock. False where another one holds it: `lock_holder(file())` says who.
  bool take(std::string_view source) { return lock_.take(file(), source); }
  /// Whether this object holds it.
  bool held() const noexcept { return lock_.held(); }
  /// Lets go of it, and removes it where the mark is gone.
  void release() noexcept;
  /// The file that is locked.
  const std::string& file() const noexcept { return file_; }

 private:
  std::string mark_, file_;
  FileLock lock_;
};

/// Who holds a lock of the file, for an error's text: `another process (1234, "python3")`, `this process`; `another
/// process` where the system does not tell.
PENSTOCK_API std::string lock_holder(const std::string& file);

/// A file's size in bytes; nothing where there is no such file.
PENSTOCK_API std::optional<std::uint64_t> file_bytes(const std::string& file, std::string_view source);
/// Hash of a file's size, the time of its last change, in nanoseconds, and 4 KiB each at its beginning, in the middle
/// and at its end, for a source's `revision()`; 0 where it can't be read.
PENSTOCK_API std::uint64_t file_revision(const std::string& file) noexcept;
/// Hash of an open file, as of one by its name; 0 where it can't be read.
PENSTOCK_API std::uint64_t file_revision(int descriptor) noexcept;
/// Content of a file that memory has room for; nothing where there is none. A pipe is read where somebody has it open
/// for writing. @throws Error(limit_exceeded) above `max_bytes`; Error(invalid_argument) for other pipes, and devices.
PENSTOCK_API std::optional<std::string> read_text(const std::string& file, std::string_view source,
                                                  std::uint64_t max_bytes = 16u << 20);
/// Replaces a file as a whole. With `sync` it lasts through a power cut. The text is first written to a file whose name
/// has `ending` after it. Callers that may replace the same file at once must give different endings.
PENSTOCK_API void replace_text(const std::string& file, std::string_view text, bool sync, std::string_view source,
                               std::string_view ending = ".new");
/// Renames a file; one that has the new name is replaced.
PENSTOCK_API void rename_file(const std::string& from, const std::string& to, std::string_view source);
/// Removes a file. Nothing happens where there is none.
PENSTOCK_API void remove_file(const std::string& file, std::string_view source);
/// Makes a file's content last through a power cut.
PENSTOCK_API void sync_file(const std::string& file, std::string_view source);
/// Makes the names in the file's folder last through a power cut. Some file systems refuse that of any folder: there it
/// is passed over, and `unsynced_folders` has the folder.
PENSTOCK_API void sync_folder_of(const std::string& file, std::string_view source);
/// Folders whose names this process could not make last, each once, in the order in which it tried. Any thread.
PENSTOCK_API std::vector<std::string> unsynced_folders();
/// Makes the folder and those above it where they are missing, which last through a power cut.
PENSTOCK_API void make_folder(const std::string& folder, std::string_view source);

}  // namespace penstock
