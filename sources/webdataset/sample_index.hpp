#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "field_plan.hpp"
#include "sample_entries.hpp"

namespace penstock::webdataset {

/// Samples of one shard. Immutable once made.
struct ShardIndex {
  std::uint64_t bytes = 0, device = 0, inode = 0;  ///< size, device and inode of the file
  bool has_end = false;
  std::uint64_t end = 0;            ///< where another member would begin
  std::string keys;                 ///< one after the other
  std::vector<std::uint64_t> ends;  ///< where each sample's key ends in `keys`
  SampleEntries entries;
  /// Files that are in no field: how many of each extension, up to `max_left_out` of them, others and those without a
  /// key under "".
  std::map<std::string, std::uint64_t> left_out;
  static constexpr std::size_t max_left_out = 100;
  std::vector<std::uint64_t> apart;  ///< samples whose other members lie elsewhere in the shard; ascending

  std::uint64_t samples() const noexcept { return ends.size(); }
  std::string_view key(std::uint64_t sample) const noexcept {
    const std::uint64_t begin = sample == 0 ? 0 : ends[sample - 1];
    return {keys.data() + begin, static_cast<std::size_t>(ends[sample] - begin)};
  }
};

class InputFile;
/// @throws Error(io) where the file isn't the one that was looked through any more, or was cut short.
void require_same(const InputFile& file, const ShardIndex& index);

/// Looks at the headers of a shard. @throws Error as TarScan; Error(unsupported) where the members of most samples lie
/// apart.
ShardIndex index_shard(const std::string& path, const std::vector<PlannedField>& fields);

/// Indexes many shards, by several threads. The Error of the first shard that has one is thrown.
std::vector<ShardIndex> index_shards(const std::vector<std::string>& paths, const std::vector<PlannedField>& fields,
                                     unsigned threads);

}  // namespace penstock::webdataset
