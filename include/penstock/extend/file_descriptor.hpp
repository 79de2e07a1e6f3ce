// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/detail/export.hpp>

namespace penstock {

/// An open file descriptor of a custom source or sink; the destructor closes it. One thread at a time. Exception:
/// several threads may use `get()` for system calls that allow this.
class PENSTOCK_API FileDescriptor {
 public:
  /// Takes the result of the system call `open`, also -1. Leaves `errno` unchanged.
  explicit FileDescriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();
  /// Closes the file. Returns 0, or the system's error code. Network file systems may report a full disk only here.
  int close() noexcept;
  /// The descriptor, or -1 if nothing is open.
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Reads from `offset` (in bytes from the file's beginning) until `out` is full, however many calls and interruptions
/// that takes. Returns the number of bytes read. This number is smaller than the size of `out` if the file ends
/// (`errno` is 0 then) or the system refuses (`errno` is the reason). Any thread.
PENSTOCK_API std::size_t read_whole(int descriptor, std::span<std::byte> out, std::uint64_t offset) noexcept;

}  // namespace penstock
