// The files of slides that are open, not more than so many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>

namespace penstock::slide {

/// What tells that a file is the one that was opened first, unchanged.
struct FileMark {
  std::uint64_t bytes = 0, inode = 0, device = 0;
  std::int64_t changed_s = 0, changed_ns = 0;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

/// What tells that a file has the same content, wherever it lies, as far as a look at some of it can: its size, and a
/// hash of that and of 4 KiB each at its beginning, in the middle and at its end.
struct FileSample {
  std::uint64_t bytes = 0, hash = 0;
  friend bool operator==(const FileSample&, const FileSample&) = default;
};

/// @throws Error(not_found | io) for what can't be opened, or is no regular file.
std::unique_ptr<FileDescriptor> open_file(const std::string& path);
/// @throws Error(io).
FileMark mark_of(int descriptor, const std::string& path);
/// @throws Error(io).
FileSample sample_of(int descriptor, const std::string& path);
/// Error(io): the file is another than the one that was opened first.
Error changed_error(const std::string& path);

/// What slides' files are, as they were when they were opened first. Any thread.
class KnownFiles {
 public:
  /// Compares an open file with what it was. Where no mark is known, as an index has none, it has to have the sample,
  /// and its mark is known from then on. @throws Error(io) for another file.
  void check(std::size_t number, int descriptor, const std::string& path, const std::optional<FileMark>& mark,
             const FileSample& sample);

 private:
  std::mutex mutex_;
  std::unordered_map<std::size_t, FileMark> seen_;  // marks of files that had none
};

/// Any thread.
class OpenFiles {
 public:
  OpenFiles(std::size_t most, std::shared_ptr<KnownFiles> known) : most_(most), known_(std::move(known)) {}
  /// The file of that number, opened where it isn't; stays open as long as it is held. @throws Error(not_found | io),
  /// the latter too for another file, as KnownFiles has it.
  std::shared_ptr<const FileDescriptor> get(std::size_t number, const std::string& path,
                                            const std::optional<FileMark>& mark, const FileSample& sample);

 private:
  struct Open {
    std::size_t number;
    std::shared_ptr<const FileDescriptor> file;
  };
  std::shared_ptr<const FileDescriptor> find(std::size_t number);

  const std::size_t most_;
  const std::shared_ptr<KnownFiles> known_;
  std::mutex mutex_;
  std::list<Open> open_;  // the one used last stands first
  std::unordered_map<std::size_t, std::list<Open>::iterator> by_number_;
};

}  // namespace penstock::slide
