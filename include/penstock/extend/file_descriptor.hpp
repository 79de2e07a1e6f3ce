// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/detail/export.hpp>

namespace penstock {

/// An open file of the system, closed at the end: for a custom source or sink. One thread at a time, except for what
/// the system allows several threads to do with `get()`.
class PENSTOCK_API FileDescriptor {
 public:
  /// Takes the result of the system's `open`, also -1. Leaves `errno` unchanged.
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
/// that takes. Returns the number of bytes read. It is smaller than `out` if the file ends (`errno` is 0 then) or the
/// system refuses (`errno` is the reason). Any thread.
PENSTOCK_API std::size_t read_whole(int descriptor, std::span<std::byte> out, std::uint64_t offset) noexcept;

}  // namespace penstock
