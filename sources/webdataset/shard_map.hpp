#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sample_index.hpp"

namespace penstock::webdataset {

/// A shard in memory, as long as this lives. No descriptor is kept: there may be more shards than those are allowed.
class ShardMap {
 public:
  /// @throws Error(io) for a file that isn't the one that was looked through any more.
  ShardMap(const std::string& path, const ShardIndex& index, bool read_ahead);
  ShardMap(ShardMap&& other) noexcept;
  ShardMap& operator=(ShardMap&&) = delete;
  ~ShardMap();

  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t size) const noexcept {
    return {data_ + offset, static_cast<std::size_t>(size)};
  }

 private:
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::webdataset
