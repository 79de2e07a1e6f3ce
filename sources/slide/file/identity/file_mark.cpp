// SPDX-License-Identifier: Apache-2.0
#include "file/identity/file_mark.hpp"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "file/errors.hpp"

namespace penstock::slide {

std::unique_ptr<FileDescriptor> open_file(const std::string& path) {
  // With O_NONBLOCK, opening a pipe doesn't wait for a writer.
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

PartialDigest sample_of(int descriptor, const std::string& path) {
  constexpr std::uint64_t looked_at = 4096;
  PartialDigest sample{mark_of(descriptor, path).bytes, 0};
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

}  // namespace penstock::slide
