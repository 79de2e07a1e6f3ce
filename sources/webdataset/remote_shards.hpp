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

#include "sample_entries.hpp"
#include "shard_bytes.hpp"

namespace penstock::webdataset {

/// Shards on servers, as blocks: ranges of equal size, the last one of each shard excepted. Immutable; any thread.
class RemoteShards {
 public:
  using Files = std::vector<std::shared_ptr<const ByteSource>>;

  explicit RemoteShards(Files files);

  std::size_t shards() const noexcept { return files_.size(); }
  const ByteSource& file(std::size_t shard) const noexcept { return *files_[shard]; }
  std::size_t range_bytes() const noexcept { return range_bytes_; }

  std::uint64_t blocks() const noexcept { return first_.back(); }
  std::uint64_t block_bytes(std::uint64_t block) const { return place_of(block).range.bytes; }
  /// Appends the blocks of these members, each once, in the order in which the members need them.
  void blocks_of(std::size_t shard, std::span<const Entry> members, std::vector<std::uint64_t>& ids) const;
  void load(std::uint64_t block, std::span<std::byte> bytes) const;
  BlocksAhead blocks_ahead() const noexcept;
  void will_load(std::span<const std::uint64_t> blocks) const noexcept;
  void will_not_load(std::span<const std::uint64_t> blocks) const noexcept;
  /// Counts of the client, which all shards share.
  FetchCounts fetched() const { return files_.empty() ? FetchCounts() : files_.front()->fetched(); }
  /// Number of the shard's first block.
  std::uint64_t first_block(std::size_t shard) const noexcept { return first_[shard]; }

 private:
  struct Place {
    std::size_t shard;
    ByteRange range;
  };
  Place place_of(std::uint64_t block) const noexcept;

  Files files_;
  std::size_t range_bytes_ = 0;
  std::vector<std::uint64_t> first_{0};
};

/// A shard on a server that is read from its beginning on, range by range, each once.
class StreamedShard final : public ShardBytes {
 public:
  StreamedShard(const RemoteShards& shards, std::size_t shard);
  ~StreamedShard() override;
  const std::string& path() const noexcept override { return name_; }
  std::uint64_t bytes() const noexcept override { return shards_.file(shard_).size(); }
  void read(char* to, std::size_t count, std::uint64_t offset) const override;

 private:
  void load(std::uint64_t block) const;

  const RemoteShards& shards_;
  const std::size_t shard_;
  const std::string name_;
  // The ranges that were announced and not read, and the one that is in memory.
  mutable std::uint64_t announced_begin_, announced_end_, loaded_;
  mutable std::vector<std::byte> range_;
};

/// Whether `WebDataset::path` is a URL.
bool names_url(const std::string& path) noexcept;
/// Returns the name of a file in a URL as it is on a disk: `%20` is a space.
std::string plain_name(const std::string& name);
/// Opens the shards that a URL with braces names, and removes secrets from `options.path`. @throws Error(unsupported)
/// if Penstock was built without the component `remote`.
std::unique_ptr<RemoteShards> open_urls(WebDataset& options);

}  // namespace penstock::webdataset
