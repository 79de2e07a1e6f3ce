// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <penstock/sources/file_access.hpp>

#include "common/file_map.hpp"
#include "sample_index.hpp"

namespace penstock::webdataset {

/// Maps a shard into memory while the object exists. The map keeps no descriptor, because there may be more shards
/// than a process may have descriptors.
class ShardMap {
 public:
  /// With `FileAccess::read` the map only serves to give the kernel advice.
  /// @throws Error(io) if the file is not the one that was indexed, or has another size. With `FileAccess::map` also if
  /// the file can't be mapped.
  ShardMap(const std::string& path, const ShardIndex& index, bool read_ahead, FileAccess access);

  /// Returns `size` bytes of the shard from `offset`. Returns an empty span if the shard could not be mapped.
  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t size) const noexcept {
    const std::span<const std::byte> all = map_.bytes();
    return all.empty() ? all : all.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

 private:
  common::FileMap map_;
};

}  // namespace penstock::webdataset
