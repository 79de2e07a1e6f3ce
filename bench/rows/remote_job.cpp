// SPDX-License-Identifier: Apache-2.0
#include "remote_job.hpp"

#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>

#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

Pipeline batches_of(const Pipeline& records) { return records | ragged("bin") | batch(batch_rows); }

constexpr unsigned copies = 4;

// Returns a folder that has the files of another folder in the folders 0, 1 and so on.
std::filesystem::path folder_of_copies(const std::filesystem::path& original, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (unsigned i = 0; i < copies; ++i) {
    const std::filesystem::path link = folder / std::to_string(i);
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(original, link);
  }
  return folder;
}

std::filesystem::path shard_name(std::size_t number) { return fmt::format("shard-{:06}.tar", number); }

}  // namespace

Remote client_options() {
  Remote options;
  options.cache_bytes = 0;
  return options;
}

RemoteJob::RemoteJob(const Settings& settings, std::size_t record_bytes)
    : store_(labelled_shards(settings, record_bytes)),
      server_(folder_of_copies(store_.folder, settings.data / "web-files"), settings.data / "web-server") {
  std::size_t shards = 0;
  while (std::filesystem::exists(store_.folder / shard_name(shards))) ++shards;
  std::vector<BareDownload::File> files;
  for (unsigned copy = 0; copy < copies; ++copy) {
    for (std::size_t shard = 0; shard < shards; ++shard) {
      const std::filesystem::path name = shard_name(shard);
      files.push_back({fmt::format("{}{}/{}", server_.url(), copy, name.string()),
                       std::filesystem::file_size(store_.folder / name)});
      bytes_ += files.back().bytes;
    }
  }
  const Remote options = client_options();
  client_ = std::make_shared<const RemoteClient>(options);
  urls_ = fmt::format("{}{{0..{}}}/shard-{{000000..{:06}}}.tar", server_.url(), copies - 1, shards - 1);
  source_.emplace(WebDataset{.path = urls_, .client = client_});
  bare_.emplace(std::move(files), options.range_bytes, options.connections);
  check_against_local();
  opened_ = client_->counts();
}

// Reads the whole epoch, so that no range is on its way when it returns.
void RemoteJob::check_against_local() const {
  Loader theirs(batches_of(from(WebDataset{.path = store_.folder.string()})), {.threads = 1});
  Loader ours(in_order(), {.threads = 1, .epochs = 1});
  std::optional<Batch> local;
  std::uint64_t local_row = 0, samples = 0;
  for (const Batch& batch : ours.epoch()) {
    const auto x = batch.ragged("bin");
    for (std::uint64_t row = 0; row < batch.size(); ++row, ++local_row, ++samples) {
      if (!local || local_row == local->size()) {
        local.reset();
        while (!local) local = theirs.next();  // nothing comes between two epochs
        local_row = 0;
      }
      const TensorView a = x[row], b = local->ragged("bin")[local_row];
      if (a.bytes() != b.bytes() || std::memcmp(a.data, b.data, a.bytes()) != 0)
        throw std::runtime_error(fmt::format("sample {} from the server differs from the local one", samples));
    }
  }
  if (samples != copies * store_.records) throw std::runtime_error("the server's shards have other samples");
}

Pipeline RemoteJob::in_order() const { return batches_of(from(*source_)); }
Pipeline RemoteJob::shuffled(std::uint64_t seed) const {
  return batches_of(from(*source_) | shuffle({.seed = seed, .blocks = true, .window_blocks = 3}));
}

Timing RemoteJob::epoch(const Pipeline& pipeline, const Executor& executor, std::size_t block_bytes) const {
  const std::uint64_t before = client_->counts().bytes;
  const Timing timing = time_loader(pipeline, executor, executor.threads(), 1, block_bytes);
  // Ranges that have nothing but the end of a shard are not read.
  constexpr std::uint64_t most_unread = 64 << 10;
  const std::uint64_t transferred = client_->counts().bytes - before;
  if (transferred > bytes_ || transferred + most_unread < bytes_)
    throw std::runtime_error(
        fmt::format("an epoch of shards of {} bytes has transferred {} bytes", bytes_, transferred));
  return timing;
}

std::string RemoteJob::note() const {
  const RemoteCounts now = client_->counts();
  const auto reads = static_cast<double>(now.reads - opened_.reads);
  return fmt::format(
      "{}, {} times; {:.0f} % of the ranges were announced, {:.0f} % were not there when they were needed",
      store_.description, copies, 100 * static_cast<double>(now.announced_reads - opened_.announced_reads) / reads,
      100 * static_cast<double>(now.waited_reads - opened_.waited_reads) / reads);
}

}  // namespace penstock::bench
