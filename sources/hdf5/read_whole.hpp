#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/system_error.hpp>

namespace penstock::hdf5 {

/// Reads until `out` is full or the file ends. How many bytes it got; -1, and errno, where the system refuses.
inline ssize_t read_whole(int descriptor, std::uint64_t offset, std::span<std::byte> out) noexcept {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = uninterrupted(
        [&] { return ::pread(descriptor, out.data() + done, out.size() - done, static_cast<off_t>(offset + done)); });
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

}  // namespace penstock::hdf5
