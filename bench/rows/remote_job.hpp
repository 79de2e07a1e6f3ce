// SPDX-License-Identifier: Apache-2.0
// Both sides of the rows about servers: tar shards on a WebServer -> batches of 64, and a bare download of the shards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <penstock/executor.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sources/remote.hpp>
#include <penstock/sources/webdataset.hpp>

#include "../bare_download.hpp"
#include "../data.hpp"
#include "../web_server.hpp"

namespace penstock::bench {

// The options of all clients of these rows: the defaults, without a cache.
Remote client_options();

class RemoteJob {
 public:
  // Starts the server and opens the shards, which streams each of them once. The server has each shard of
  // `labelled_shards` four times, so that there are more bytes than a loader keeps.
  //
  // @throws std::runtime_error if the samples from the server differ from those of the local shards.
  RemoteJob(const Settings& settings, std::size_t record_bytes);

  // Returns the pattern of the shards' URLs.
  const std::string& urls() const noexcept { return urls_; }
  // Returns the bytes of all shards on the server.
  std::uint64_t bytes() const noexcept { return bytes_; }
  // Returns batches from the server, in order.
  Pipeline in_order() const;
  // Returns batches from the server, shuffled by blocks: by windows of three shards.
  Pipeline shuffled(std::uint64_t seed) const;
  // Times one epoch of a new loader. @throws std::runtime_error if not every byte was transferred exactly once.
  // `block_bytes`: the loader's memory for blocks. In order, little is enough; a shuffle needs two of its windows.
  Timing epoch(const Pipeline& pipeline, const Executor& executor, std::size_t block_bytes = few_blocks) const;
  static constexpr std::size_t few_blocks = std::size_t{128} << 20, many_blocks = std::size_t{512} << 20;
  Timing bare(std::span<std::byte> batches = {}) { return bare_->run(batches); }
  // Describes the data, and how `epoch` read so far.
  std::string note() const;

 private:
  void check_against_local() const;

  Store store_;
  std::uint64_t bytes_ = 0;
  WebServer server_;
  std::string urls_;
  std::shared_ptr<const RemoteClient> client_;
  std::optional<WebDatasetSource> source_;
  std::optional<BareDownload> bare_;
  RemoteCounts opened_;  // what opening took
};

}  // namespace penstock::bench
