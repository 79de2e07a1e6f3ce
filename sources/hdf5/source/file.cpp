// SPDX-License-Identifier: Apache-2.0
#include "source/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/process_id.hpp>
#include <penstock/extend/store_files.hpp>

#include "isolation/remote_access.hpp"
#include "library/direct_access.hpp"
#include "library/errors.hpp"

namespace penstock::hdf5 {

namespace {

// Throws if `path` is empty, can't be opened, or is not a regular file.
void require_readable(const std::string& path) {
  if (path.empty()) throw error_in(path, Errc::invalid_argument, "the file's path is empty");
  const int fd = uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (fd < 0) throw system_error(errno, "opening the file", path);
  struct stat status {};
  const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  ::close(fd);
  if (!regular) throw error_in(path, Errc::invalid_argument, "this is no regular file; name an HDF5 file");
}

}  // namespace

File::File(std::string path, const Hdf5& how, const std::shared_ptr<RunningReaders>& running)
    : path_(std::move(path)), owner_(process_id()) {
  require_readable(path_);
  try {
    if (!how.isolate)
      access_ = std::make_unique<DirectAccess>(path_);
    else
      access_ = std::make_unique<RemoteAccess>(path_, how, running);
  } catch (const Error& failed) {
    throw error_in(path_, failed.code(), failed.cause());
  }
  fd_ = access_->descriptor();
  bytes_ = bytes_now();
  revision_ = file_revision(fd_);
}

std::uint64_t File::bytes_now() const noexcept {
  struct stat status {};
  return ::fstat(fd_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void File::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const std::size_t got = read_whole(fd_, out, offset);
  if (got == out.size()) return;
  if (errno != 0) throw system_error(errno, "reading", path_).with_offset(offset + got);
  throw error_in(path_, Errc::io,
                 "the file was cut short while it was open, from " + std::to_string(bytes_) + " bytes to " +
                     std::to_string(bytes_now()),
                 offset + got);
}

bool File::will_read(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  std::byte byte{};
  iovec to{&byte, 1};
  if (::preadv2(fd_, &to, 1, static_cast<off_t>(offset), RWF_NOWAIT) == 1) return false;
  return ::posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED) == 0;
}

void File::require_own_process() const {
  if (owner_ != process_id())
    throw error_in(path_, Errc::forked, "the file was opened before fork(); open the source again in the child");
}

}  // namespace penstock::hdf5
