#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/detail/export.hpp>

namespace penstock {

/// An open file of the system's, closed at the end: for a source or sink of your own. One thread at a time, but for
/// what the system allows several to do with `get()`.
class PENSTOCK_API FileDescriptor {
 public:
  /// Takes what the system's `open` returned, -1 included: `errno` then still says why.
  explicit FileDescriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();
  /// Closes it now. 0, or the system's code: some file systems of a network tell of a full disk only here.
  int close() noexcept;
  /// -1 where nothing is open.
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Reads from `offset`, a byte's number in the file, until `out` is full, however many calls and interruptions that
/// takes. Returns how many bytes it got: fewer where the file ends (`errno` is 0 then) or the system refuses (`errno`
/// says why). Any thread.
PENSTOCK_API std::size_t read_whole(int descriptor, std::span<std::byte> out, std::uint64_t offset) noexcept;

}  // namespace penstock
