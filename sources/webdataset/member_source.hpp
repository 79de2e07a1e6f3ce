// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock::webdataset {

/// Why a member can't be read, although the members after it can.
enum class TarFault : std::uint8_t { none, sparse, unknown_type, long_name };

/// A member of a tar file.
struct TarMember {
  std::string name;  ///< the name as written in the file
  char type = '0';
  std::uint64_t header = 0;  ///< offset of the member's first block, which may be an extended header's
  std::uint64_t offset = 0;  ///< offset of the member's data
  std::uint64_t size = 0;    ///< bytes of the member's data, which end within the file
  TarFault fault = TarFault::none;

  /// Returns false for links, devices and similar members.
  bool is_file() const noexcept { return type == '0' || type == '\0' || type == '7'; }
};

/// Names of more bytes are not read.
inline constexpr std::size_t max_name_bytes = std::size_t{64} << 10;

/// Goes through the members of one shard, except folders and volume labels. One thread at a time may use it.
class MemberSource {
 public:
  virtual ~MemberSource() = default;
  /// The shard's path, or its URL without secrets.
  virtual const std::string& path() const noexcept = 0;
  /// Bytes of the shard.
  virtual std::uint64_t bytes() const noexcept = 0;
  /// Sets `member` to the next member. Returns false if there is no further member. @throws Error.
  virtual bool next(TarMember& member) = 0;
  /// Begins again with the first member.
  virtual void restart() = 0;
  /// Returns where a further member would begin. Call this after `next` has returned false; with an index file, at any
  /// time.
  virtual std::uint64_t position() const noexcept = 0;
  /// Returns whether the archive has tar's end mark. Call this after `next` has returned false.
  virtual bool has_end() const noexcept = 0;
  /// The index file that lists the members, which must be compared with the shard when they are read. `header` of each
  /// member is where the one before it ends. Empty: the members are those of the shard.
  virtual std::string index_file() const { return {}; }
};

}  // namespace penstock::webdataset
