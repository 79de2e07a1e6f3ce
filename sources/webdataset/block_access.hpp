// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "sample_entries.hpp"
#include "shard_ranges.hpp"

namespace penstock::webdataset {

/// The bytes of a sample's members in its blocks.
class BlockAccess {
 public:
  BlockAccess(const ShardRanges& shards, std::span<const std::uint64_t> ids,
              std::span<const std::span<const std::byte>> blocks)
      : shards_(shards), ids_(ids), blocks_(blocks) {}

  std::span<const std::byte> view(std::size_t shard, Entry entry) const {
    if (entry.size == 0) return {};
    const auto [block, at] = find(shard, entry.offset);
    return entry.size <= block.size() - at ? block.subspan(at, static_cast<std::size_t>(entry.size))
                                           : std::span<const std::byte>();
  }
  void will_copy(std::size_t shard, std::uint64_t begin, Entry entry) const noexcept {
    static_cast<void>(shard), static_cast<void>(begin), static_cast<void>(entry);
  }
  void copy(std::size_t shard, Entry entry, std::byte* to) const {
    while (entry.size != 0) {
      const auto [block, at] = find(shard, entry.offset);
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(entry.size, block.size() - at));
      std::memcpy(to, block.data() + at, part);
      to += part, entry.offset += part, entry.size -= part;
    }
  }

 private:
  struct Part {
    std::span<const std::byte> block;
    std::size_t at;
  };
  Part find(std::size_t shard, std::uint64_t offset) const {
    const std::uint64_t id = shards_.first_block(shard) + offset / shards_.range_bytes();
    const auto place = static_cast<std::size_t>(std::ranges::find(ids_, id) - ids_.begin());
    return {blocks_[place], static_cast<std::size_t>(offset % shards_.range_bytes())};
  }

  const ShardRanges& shards_;
  std::span<const std::uint64_t> ids_;
  std::span<const std::span<const std::byte>> blocks_;
};

}  // namespace penstock::webdataset
