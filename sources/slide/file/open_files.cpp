#include "file/open_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <iterator>

#include "file/errors.hpp"

namespace penstock::slide {

std::unique_ptr<FileDescriptor> open_file(const std::string& path) {
  // Never waits, as a pipe in a file's place would make it.
  auto file = std::make_unique<FileDescriptor>(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }));
  if (file->get() < 0) throw system_error_in(path, errno, "opening the file");
  return file;
}

FileMark mark_of(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw system_error_in(path, errno, "looking at its size");
  if (!S_ISREG(status.st_mode)) throw error_in(path, Errc::io, "it is not a regular file");
  return {static_cast<std::uint64_t>(status.st_size), status.st_ino, status.st_dev, status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

Error changed_error(const std::string& path) {
  return error_in(path, Errc::io, "the file was changed or replaced since it was opened; open it again");
}

std::shared_ptr<const FileDescriptor> OpenFiles::find(std::size_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return nullptr;
  open_.splice(open_.begin(), open_, found->second);
  return open_.front().file;
}

std::shared_ptr<const FileDescriptor> OpenFiles::get(std::size_t number, const std::string& path,
                                                     const FileMark& mark) {
  std::shared_ptr<const FileDescriptor> file = find(number);
  const bool fresh = file == nullptr;
  if (fresh) file = open_file(path);
  if (!(mark_of(file->get(), path) == mark)) throw changed_error(path);
  if (!fresh) return file;
  std::list<Open> closed;  // after the lock
  const std::lock_guard lock(mutex_);
  if (by_number_.contains(number)) return file;  // another thread was faster
  open_.push_front({number, file});
  by_number_[number] = open_.begin();
  if (open_.size() > most_) {
    by_number_.erase(open_.back().number);
    closed.splice(closed.begin(), open_, std::prev(open_.end()));
  }
  return file;
}

}  // namespace penstock::slide
