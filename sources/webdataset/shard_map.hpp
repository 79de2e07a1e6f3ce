#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <penstock/sources/file_access.hpp>

#include "common/file_map.hpp"
#include "sample_index.hpp"

namespace penstock::webdataset {

/// A shard in memory, as long as this lives. No descriptor is kept: there may be more shards than those are allowed.
class ShardMap {
 public:
  /// By `FileAccess::read` the map is only for advice, and there is none where the system refuses it.
  /// @throws Error(io) for a file that isn't the one that was looked through any more.
  ShardMap(const std::string& path, const ShardIndex& index, bool read_ahead, FileAccess access);

  /// None where there is no map.
  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t size) const noexcept {
    const std::span<const std::byte> all = map_.bytes();
    return all.empty() ? all : all.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

 private:
  common::FileMap map_;
};

}  // namespace penstock::webdataset
