// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "field_plan.hpp"
#include "sample_entries.hpp"
#include "shard_bytes.hpp"

namespace penstock::webdataset {

/// The samples of one shard. Immutable when complete.
struct ShardIndex {
  std::uint64_t bytes = 0, device = 0, inode = 0;  ///< size, device and inode of the file
  bool has_end = false;
  /// Where a further member would begin. With an index file, where the bytes begin that are compared at its end.
  std::uint64_t end = 0;
  std::string keys;                 ///< all samples' keys, one after the other
  std::vector<std::uint64_t> ends;  ///< where each sample's key ends in `keys`
  SampleEntries entries;
  /// How many files belong to no field, per extension, for up to `max_left_out` extensions. Files with further
  /// extensions and files without a key are counted under "".
  std::map<std::string, std::uint64_t> left_out;
  static constexpr std::size_t max_left_out = 100;
  std::vector<std::uint64_t> apart;  ///< the result of `samples_apart`
  /// The index file that says where the members are. What it says is compared with the shard when a member is read.
  /// Empty: the headers were read.
  std::string index_file;
  /// The bytes before a member that are compared with the index file, and the members in them that no field reads.
  struct Lead {
    std::uint64_t offset, begin;
    std::uint64_t passed = 0;  ///< `with_passed` of those members; 0: there are none
  };
  /// By offset, those members of the index file before which there is more than one block.
  std::vector<Lead> leads;
  /// Members that no field reads are compared up to this many bytes together, so that no large ones are transferred.
  static constexpr std::uint64_t max_passed_bytes = std::uint64_t{64} << 10;
  std::uint64_t end_passed = 0;  ///< as `Lead::passed`, of the members after `end`

  std::uint64_t samples() const noexcept { return ends.size(); }
  std::string_view key(std::uint64_t sample) const noexcept {
    const std::uint64_t begin = sample == 0 ? 0 : ends[sample - 1];
    return {keys.data() + begin, static_cast<std::size_t>(ends[sample] - begin)};
  }
  bool is_claimed() const noexcept { return !index_file.empty(); }
  /// What is compared with the index file before the member with data at `offset` is read: from the end of a member
  /// before it on. Without an index file, nothing.
  Lead lead(std::uint64_t offset) const noexcept;
};

class InputFile;
class MemberSource;
struct TarMember;

/// Returns the hash of members that are passed over, `before` and a further one. It is not 0.
std::uint64_t with_passed(std::uint64_t before, const TarMember& member) noexcept;

/// @throws Error(io) if the file is not the one that was indexed, or has become shorter.
void require_same(const InputFile& file, const ShardIndex& index);

/// Makes the index of a shard's members. Sets all of it but `device` and `inode`. @throws what MemberSource throws;
/// Error(unsupported) if the members of most samples are not next to each other.
ShardIndex index_members(MemberSource& members, const std::vector<PlannedField>& fields);
/// Does the same with the members that TarScan finds.
ShardIndex index_shard(const ShardBytes& file, const std::vector<PlannedField>& fields);

/// Indexes many shards, on several threads. If several shards can't be indexed, throws the Error of the first of them.
std::vector<ShardIndex> index_shards(const std::vector<std::string>& paths, const std::vector<PlannedField>& fields,
                                     unsigned threads);

}  // namespace penstock::webdataset
