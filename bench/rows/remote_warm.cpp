// SPDX-License-Identifier: Apache-2.0
// Measures tar shards of a server whose ranges are all in the cache on the disk, by the side of local shards.
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/sources/remote.hpp>
#include <penstock/sources/webdataset.hpp>

#include "../data.hpp"
#include "../raw_loop.hpp"
#include "../web_server.hpp"
#include "remote_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

// Tar shards on a server, and a cache that has all their ranges.
class CachedShards {
 public:
  explicit CachedShards(const Settings& settings)
      : store_(labelled_shards(settings, value_bytes)),
        server_(store_.folder, settings.data / "web-server"),
        cache_(settings.data / "remote-cache") {
    std::filesystem::remove_all(cache_);
    Remote options = client_options();
    options.cache = cache_.string();
    options.cache_bytes = std::uint64_t{1} << 30;
    client_ = std::make_shared<const RemoteClient>(options);
    cached_ = batches_of({.path = server_.url() + "shard-{000000..000003}.tar", .client = client_});
    local_ = batches_of({.path = store_.folder.string()});
    Loader loader(*cached_, {.epochs = 1});
    while (loader.next()) {
    }
  }
  CachedShards(const CachedShards&) = delete;
  CachedShards& operator=(const CachedShards&) = delete;
  ~CachedShards() {
    std::error_code ignored;
    std::filesystem::remove_all(cache_, ignored);
  }

  const Pipeline& cached() const { return *cached_; }
  const Pipeline& local() const { return *local_; }
  std::uint64_t requests() const { return client_->counts().requests; }
  const Store& store() const noexcept { return store_; }

 private:
  static Pipeline batches_of(const WebDataset& shards) { return from(shards) | ragged("bin") | batch(batch_rows); }

  Store store_;
  WebServer server_;
  std::filesystem::path cache_;
  std::shared_ptr<const RemoteClient> client_;
  std::optional<Pipeline> cached_, local_;
};

}  // namespace

Row remote_warm(const RowSpec& spec, const Settings& settings) {
  const CachedShards shards(settings);
  const Executor executor(settings.threads);
  const std::uint64_t epochs = settings.quick ? 2 : 32;
  // So little that the loader keeps no block from one epoch to the next.
  constexpr std::size_t room_for_blocks = std::size_t{64} << 20;
  const auto rate = [&](const Pipeline& pipeline) {
    Timing all = time_loader(pipeline, executor, settings.threads, epochs, room_for_blocks);
    all.value = static_cast<double>(epochs * pipeline.size() * value_bytes) * 1e-9 / all.value;
    return all;
  };
  const std::uint64_t before = shards.requests();
  Row row = compare(
      spec, settings, [&] { return rate(shards.cached()); }, [&] { return rate(shards.local()); });
  if (shards.requests() != before)
    throw std::runtime_error(
        fmt::format("{} requests were made, though all ranges are in the cache", shards.requests() - before));
  row.notes.push_back(shards.store().description);
  return row;
}

}  // namespace penstock::bench
