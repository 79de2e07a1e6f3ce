// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/fetch_counts.hpp>
#include <penstock/extend/memory_ahead.hpp>

namespace penstock {

/// A part of a file: `bytes` bytes from `offset` on.
struct ByteRange {
  std::uint64_t offset = 0;  ///< from the beginning of the file
  std::uint64_t bytes = 0;   ///< length
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// The bytes of one file, wherever it is: on a disk, or on a server. The file does not change. Any thread calls all
/// members at any time.
class PENSTOCK_API ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// The name for errors and `plan()`: a path, or a URL without secrets.
  virtual std::string name() const = 0;
  /// Bytes of the file.
  virtual std::uint64_t size() const = 0;
  /// Fills `out` with the bytes from `offset` on.
  /// @throws Error(invalid_argument) if the bytes are not all in the file; Error(io | not_found | network), also if the
  /// file has changed since it was opened.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  /// Reads a range into memory of the source's own, and returns it. It stays unchanged as long as any copy of the
  /// pointer exists, also longer than the source. Counts as `read`. Null: the source has no such memory; call `read`.
  /// By default, null. @throws like `read`.
  virtual std::shared_ptr<const std::byte> lend(ByteRange range) const {
    static_cast<void>(range);
    return nullptr;
  }
  /// Announces ranges that will be read, in this order. Each announcement ends with one `read` of exactly this range,
  /// or with `will_not_read`. Does not wait. By default, does nothing.
  virtual void will_read(std::span<const ByteRange> ranges) const noexcept { static_cast<void>(ranges); }
  /// Withdraws announcements. By default, does nothing.
  virtual void will_not_read(std::span<const ByteRange> ranges) const noexcept { static_cast<void>(ranges); }
  /// Offers up to `most` bytes of a loader's memory for announced ranges that have arrived; see `BlockSource`. By
  /// default, takes none.
  virtual MemoryAhead take_memory(std::size_t most) const {
    static_cast<void>(most);
    return {};
  }
  /// Returns what `keep` kept about this version of the file under `name`. Empty: nothing.
  virtual std::vector<std::byte> kept(std::string_view name) const {
    static_cast<void>(name);
    return {};
  }
  /// Keeps what was learned about this version of the file, for later processes, if the source has a place for it.
  /// `name` has up to 32 letters, digits and hyphens. By default, does nothing.
  virtual void keep(std::string_view name, std::span<const std::byte> bytes) const noexcept {
    static_cast<void>(name);
    static_cast<void>(bytes);
  }
  /// What was fetched over a network so far, for this file and for others with the same client. By default, nothing.
  virtual FetchCounts fetched() const { return {}; }
  /// Number of bytes that are best read at a time. 0: any number.
  virtual std::size_t range_bytes() const { return 0; }
  /// Hash of what the file is, for fingerprints: its base name and size. Does not depend on where it is.
  virtual std::uint64_t identity() const = 0;
  /// Hash of which version of the file was opened: times of a local file, the ETag of a server.
  virtual std::uint64_t revision() const = 0;
};

/// Opens a file of this machine. Announced ranges are read ahead by the system (`posix_fadvise`). The file is open only
/// while it is read. `range_bytes`: what `ByteSource::range_bytes` returns. `source`: the name of the source in errors.
/// @throws Error(not_found | io); Error(invalid_argument) if it is not a regular file. Reading throws Error(io) if the
/// file was cut short, replaced, or written to since it was opened.
PENSTOCK_API std::shared_ptr<const ByteSource> open_local_file(const std::string& path, std::size_t range_bytes,
                                                               std::string_view source);

}  // namespace penstock
