// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock {

FileDescriptor::~FileDescriptor() { close(); }

int FileDescriptor::close() noexcept {
  const int descriptor = std::exchange(descriptor_, -1);
  // If a signal interrupts close(), the descriptor is closed all the same.
  return descriptor < 0 || ::close(descriptor) == 0 || errno == EINTR ? 0 : errno;
}

std::size_t read_whole(int descriptor, std::span<std::byte> out, std::uint64_t offset) noexcept {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = uninterrupted(
        [&] { return ::pread(descriptor, out.data() + done, out.size() - done, static_cast<off_t>(offset + done)); });
    if (got < 0) return done;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  errno = 0;
  return done;
}

}  // namespace penstock
