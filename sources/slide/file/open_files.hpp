// The files of slides that are open, not more than so many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>

namespace penstock::slide {

/// What tells that a file is the one that was opened first, unchanged.
struct FileMark {
  std::uint64_t bytes = 0, inode = 0, device = 0;
  std::int64_t changed_s = 0, changed_ns = 0;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

/// @throws Error(not_found | io) for what can't be opened, or is no regular file.
std::unique_ptr<FileDescriptor> open_file(const std::string& path);
/// @throws Error(io).
FileMark mark_of(int descriptor, const std::string& path);
/// Error(io): the file is another than the one that was opened first.
Error changed_error(const std::string& path);

/// Any thread.
class OpenFiles {
 public:
  explicit OpenFiles(std::size_t most) : most_(most) {}
  /// The file of that number, opened where it isn't; stays open as long as it is held. @throws Error(not_found | io),
  /// the latter too for a file that was changed or replaced since `mark` was taken.
  std::shared_ptr<const FileDescriptor> get(std::size_t number, const std::string& path, const FileMark& mark);

 private:
  struct Open {
    std::size_t number;
    std::shared_ptr<const FileDescriptor> file;
  };
  std::shared_ptr<const FileDescriptor> find(std::size_t number);

  const std::size_t most_;
  std::mutex mutex_;
  std::list<Open> open_;  // the one used last stands first
  std::unordered_map<std::size_t, std::list<Open>::iterator> by_number_;
};

}  // namespace penstock::slide
