// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/block_source.hpp>
#include <penstock/extend/byte_source.hpp>
#include <penstock/sources/webdataset.hpp>

#include "sample_index.hpp"
#include "shard_bytes.hpp"

namespace penstock::webdataset {

/// Shards on servers, or on a slow disk, as blocks: ranges of equal size, the last one of each shard excepted.
/// Immutable; any thread.
class ShardRanges {
 public:
  using Files = std::vector<std::shared_ptr<const ByteSource>>;

  /// `index_files`: of each shard; null, or all missing, where there is none.
  explicit ShardRanges(Files files, Files index_files = {});

  std::size_t shards() const noexcept { return files_.size(); }
  const ByteSource& file(std::size_t shard) const noexcept { return *files_[shard]; }
  /// The shard's index file. Null: there is none.
  const ByteSource* index_file(std::size_t shard) const noexcept {
    return shard < index_files_.size() ? index_files_[shard].get() : nullptr;
  }
  std::size_t range_bytes() const noexcept { return range_bytes_; }

  std::uint64_t blocks() const noexcept { return first_.back(); }
  std::uint64_t block_bytes(std::uint64_t block) const { return place_of(block).range.bytes; }
  /// Appends the blocks of a sample, each once, in the order in which its members need them. If an index file says
  /// where the members are, what is compared with it belongs to the sample.
  void blocks_of(std::size_t shard, const ShardIndex& index, std::uint64_t sample,
                 std::vector<std::uint64_t>& ids) const;
  void load(std::uint64_t block, std::span<std::byte> bytes) const;
  std::shared_ptr<const std::byte> lend(std::uint64_t block) const;
  BlocksAhead blocks_ahead() const noexcept;
  void will_load(std::span<const std::uint64_t> blocks) const noexcept;
  void will_not_load(std::span<const std::uint64_t> blocks) const noexcept;
  /// Offers memory to the client, which all shards share. Not more than the shards have bytes.
  MemoryAhead take_memory(std::size_t most) const;
  /// Counts of the client.
  FetchCounts fetched() const { return files_.empty() ? FetchCounts() : files_.front()->fetched(); }
  /// Number of the shard's first block.
  std::uint64_t first_block(std::size_t shard) const noexcept { return first_[shard]; }

 private:
  struct Place {
    std::size_t shard;
    ByteRange range;
  };
  Place place_of(std::uint64_t block) const noexcept;

  Files files_, index_files_;
  std::size_t range_bytes_ = 0;
  std::vector<std::uint64_t> first_{0};
};

/// Returns the ranges to read a whole file in. A cache keeps these.
std::vector<ByteRange> ranges_of(const ByteSource& file);
/// Reads a whole file, whose `ranges_of` were announced. @throws what `ByteSource::read` throws.
std::string read_announced(const ByteSource& file);

/// A shard that is read from its beginning on, range by range, each once.
class StreamedShard final : public ShardBytes {
 public:
  StreamedShard(const ShardRanges& shards, std::size_t shard);
  ~StreamedShard() override;
  const std::string& path() const noexcept override { return name_; }
  std::uint64_t bytes() const noexcept override { return shards_.file(shard_).size(); }
  void read(char* to, std::size_t count, std::uint64_t offset) const override;

 private:
  void load(std::uint64_t block) const;

  const ShardRanges& shards_;
  const std::size_t shard_;
  const std::string name_;
  // The ranges that were announced and not read, and the one that is in memory.
  mutable std::uint64_t announced_begin_, announced_end_, loaded_;
  mutable std::vector<std::byte> range_;
};

}  // namespace penstock::webdataset
