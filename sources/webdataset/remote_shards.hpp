// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/block_source.hpp>
#include <penstock/extend/byte_source.hpp>
#include <penstock/sources/webdataset.hpp>

#include "sample_index.hpp"
#include "shard_bytes.hpp"

namespace penstock::webdataset {

/// Shards on servers, as blocks: ranges of equal size, the last one of each shard excepted. Immutable; any thread.
class RemoteShards {
 public:
  using Files = std::vector<std::shared_ptr<const ByteSource>>;

  /// `index_files`: of each shard; null, or all missing, where there is none.
  explicit RemoteShards(Files files, Files index_files = {});

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

  Files files_, index_files_;
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
/// Returns the URL of the index file beside a shard. Returns nothing if the URL's path does not end in ".tar".
std::optional<std::string> index_url(const std::string& shard);
/// Returns a URL without user, password and query.
std::string url_without_secrets(const std::string& url);
/// Reads a whole file on a server, the one at `options.path`. @throws Error(limit_exceeded) above `max_bytes`;
/// Error(unsupported) if Penstock was built without the component `remote`; Error(io | not_found | invalid_argument).
std::string read_url(WebDataset& options, std::uint64_t max_bytes);
/// Opens the shards at these URLs, and their index files. Sets `options.client`. @throws the same.
std::unique_ptr<RemoteShards> open_urls(WebDataset& options, const std::vector<std::string>& urls);

}  // namespace penstock::webdataset
