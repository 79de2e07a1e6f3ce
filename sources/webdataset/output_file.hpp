#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::webdataset {

/// A file that is appended to. What was not flushed is lost with it. One thread at a time.
class OutputFile {
 public:
  /// Makes the file where it is missing, and cuts it off behind its first `keep_bytes`, which it must have.
  /// @throws Error(io).
  OutputFile(std::string path, std::uint64_t keep_bytes);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// @throws Error(io) where the disk is full; the file's end is undefined then.
  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  void append_zeros(std::size_t count);
  void flush();
  /// What was flushed lasts through a power cut.
  void sync();
  /// Unflushed ones included.
  std::uint64_t bytes() const noexcept { return written_ + buffer_.size(); }

 private:
  void write(std::span<const std::byte> bytes);

  std::string path_;
  int fd_ = -1;
  std::uint64_t written_ = 0;
  std::vector<std::byte> buffer_;
};

/// Held by one process at a time, and by one object in it.
class FileLock {
 public:
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();
  /// Makes the file where it is missing. False where another one holds it. Lets go of what it held before.
  /// @throws Error(io).
  bool take(const std::string& file);

 private:
  void release() noexcept;

  int fd_ = -1;
};

/// Nothing where there is no such file. @throws Error(io).
std::optional<std::uint64_t> file_bytes(const std::string& file);
/// Content of a small file; nothing where there is none. @throws Error(io | limit_exceeded).
std::optional<std::string> read_text(const std::string& file);
/// Replaces a file as a whole, and, with `sync`, lasts through a power cut. @throws Error(io).
void replace_text(const std::string& file, const std::string& text, bool sync);
void rename_file(const std::string& from, const std::string& to);
void remove_file(const std::string& file);
void sync_file(const std::string& file);
/// The names in the file's folder last through a power cut. @throws Error(io).
void sync_folder_of(const std::string& file);

}  // namespace penstock::webdataset
