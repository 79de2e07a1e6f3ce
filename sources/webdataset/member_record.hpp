// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "member_source.hpp"

namespace penstock::webdataset {

/// The members of one shard, one after the other, in few bytes.
class MemberRecord {
 public:
  /// Where a reader of the record is.
  struct Place {
    std::size_t at = 0;          // in the record
    std::uint64_t data_end = 0;  // where the data of the member before end in the shard
    friend bool operator==(const Place&, const Place&) = default;
  };

  void add(const TarMember& member);
  /// Sets `member` to the one at `place`, which then is after it. Returns false after the last member.
  bool next(Place& place, TarMember& member) const;

  /// The place after the last member.
  Place end() const noexcept { return {members_.size(), data_end_}; }

  /// How a shard ends.
  struct End {
    std::uint64_t position = 0;
    bool has_mark = false;
  };
  /// Returns the record as a file of its own. `shard_bytes`: the shard's size.
  std::vector<std::byte> to_bytes(std::uint64_t shard_bytes, End end) const;
  /// A record that was read again.
  struct Read;
  /// Takes what `to_bytes` returned. Returns nothing if it is damaged, or of another shard.
  static std::optional<Read> from_bytes(std::span<const std::byte> bytes, std::uint64_t shard_bytes);

 private:
  std::string members_;
  std::uint64_t count_ = 0, data_end_ = 0;
};

struct MemberRecord::Read {
  MemberRecord record;
  End end;
};

}  // namespace penstock::webdataset
