#include "file/open_files.hpp"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "file/errors.hpp"

namespace penstock::slide {

std::unique_ptr<FileDescriptor> open_file(const std::string& path) {
  // Never waits, as a pipe in a file's place would make it.
  auto file = std::make_unique<FileDescriptor>(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }));
  if (file->get() < 0) throw system_error(errno, "opening the file", path);
  return file;
}

FileMark mark_of(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw system_error(errno, "looking at its size", path);
  if (!S_ISREG(status.st_mode)) throw error_in(path, Errc::io, "it is not a regular file");
  return {static_cast<std::uint64_t>(status.st_size), status.st_ino, status.st_dev, status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

FileSample sample_of(int descriptor, const std::string& path) {
  constexpr std::uint64_t looked_at = 4096;
  FileSample sample{mark_of(descriptor, path).bytes, 0};
  sample.hash = XXH3_64bits(&sample.bytes, sizeof sample.bytes);
  std::array<std::byte, looked_at> part{};
  const std::uint64_t last = sample.bytes - std::min(sample.bytes, looked_at);
  for (const std::uint64_t at : {std::uint64_t{0}, sample.bytes / 2, last}) {
    const std::size_t got = read_whole(descriptor, part, at);
    if (got < part.size() && errno != 0) throw system_error(errno, "looking at the file", path);
    sample.hash = XXH3_64bits_withSeed(part.data(), got, sample.hash);
  }
  return sample;
}

Error changed_error(const std::string& path) {
  return error_in(path, Errc::io, "the file was changed or replaced since it was opened; open it again");
}

void KnownFiles::check(std::size_t number, int descriptor, const std::string& path, const std::optional<FileMark>& mark,
                       const FileSample& sample) {
  const FileMark found = mark_of(descriptor, path);
  if (mark) {
    if (!(found == *mark)) throw changed_error(path);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto seen = seen_.find(number); seen != seen_.end()) {
      if (!(found == seen->second)) throw changed_error(path);
      return;
    }
  }
  if (!(sample_of(descriptor, path) == sample))
    throw error_in(path, Errc::io,
                   "the file is another than the one that the index was made of, of " + std::to_string(sample.bytes) +
                       " bytes; make the index anew");
  const std::lock_guard lock(mutex_);
  seen_.emplace(number, found);
}

std::shared_ptr<const FileDescriptor> OpenFiles::find(std::size_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return nullptr;
  open_.splice(open_.begin(), open_, found->second);
  return open_.front().file;
}

std::shared_ptr<const FileDescriptor> OpenFiles::get(std::size_t number, const std::string& path,
                                                     const std::optional<FileMark>& mark, const FileSample& sample) {
  std::shared_ptr<const FileDescriptor> file = find(number);
  const bool fresh = file == nullptr;
  if (fresh) file = open_file(path);
  known_->check(number, file->get(), path, mark, sample);
  if (!fresh) return file;
  std::list<Open> closed;  // closed after the lock
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
