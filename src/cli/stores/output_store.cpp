// SPDX-License-Identifier: Apache-2.0
#include "stores/output_store.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <penstock/sources/files_sink.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/write.hpp>

#include "stores/left_out.hpp"

namespace penstock::cli {

namespace {

WebDatasetSink shards_sink(const OutputStore& store, const WriteFlags& flags) {
  return WebDatasetSink({.path = store.to.path,
                         .keys = store.number_keys ? WebDatasetKeys::position : WebDatasetKeys::automatic,
                         .max_samples = store.out.shard_samples,
                         .max_bytes = parse_bytes(store.out.shard_bytes),
                         .job = store.job,
                         .sync = flags.sync()});
}

Hdf5Sink hdf5_sink(const OutputStore& store, const WriteFlags& flags) {
  return Hdf5Sink({.path = store.to.path,
                   .single_file = store.to.single_file,
                   .fletcher32 = store.checksums,
                   .keys = store.key_field,
                   .max_samples = store.out.shard_samples,
                   .max_bytes = parse_bytes(store.out.shard_bytes),
                   .job = store.job,
                   .sync = flags.sync()});
}

LmdbSink lmdb_sink(const OutputStore& store, const WriteFlags& flags) {
  return LmdbSink({.path = store.to.path,
                   .records = store.bare_values ? LmdbRecords::raw : LmdbRecords::fields,
                   .keys = store.number_keys ? LmdbKeys::position : LmdbKeys::automatic,
                   .job = store.job,
                   .mode = store.update   ? LmdbMode::update
                           : store.extend ? LmdbMode::extend
                                          : LmdbMode::create,
                   .single_file = store.to.single_file,
                   .sync = flags.sync()});
}

FilesSink files_sink(const OutputStore& store, const WriteFlags& flags) {
  return FilesSink({.path = store.to.path,
                    .keys = store.number_keys ? FilesKeys::position : FilesKeys::automatic,
                    .job = store.job,
                    .sync = flags.sync()});
}

// Describes how many keys can't be names of tar members, or of files, and what the first of these keys becomes. Empty
// if all keys can be names.
std::string lost_keys(std::uint64_t records, const std::function<std::string(std::uint64_t)>& key, bool tar) {
  const auto written = [&](const std::string& of) { return tar ? webdataset_key(of) : files_key(of); };
  std::uint64_t changed = 0;
  std::string first;
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::string before = key(i);
    if (before == written(before)) continue;
    if (changed++ == 0) first = before;
  }
  if (changed == 0) return {};
  return fmt::format("changed: {}, as a {}'s name can't hold {}: {} is {} in the {}", counted(changed, "key"),
                     tar ? "tar member" : "file", changed == 1 ? "it" : "them", printable(first), written(first),
                     tar ? "shards" : "folder");
}

}  // namespace

std::string lost_order(const OutputStore& store, std::uint64_t records,
                       const std::function<std::string(std::uint64_t)>& key) {
  if (store.to.form != StoreForm::lmdb || store.number_keys || !key) return {};
  std::string before;
  for (std::uint64_t i = 0; i < records; ++i) {
    std::string now = key(i);
    if (now < before)
      return fmt::format(
          "changed: the order of the records, which in an LMDB store is that of the bytes of their keys: "
          "record {}, {}, stands before record {}, {}",
          with_commas(i), printable(now), with_commas(i - 1), printable(before));
    before = std::move(now);
  }
  return {};
}

StoreResult write_store(const std::string& doing, const Pipeline& records, std::uint64_t total,
                        const OutputStore& store, const WriteFlags& flags) {
  StoreResult stored;
  const auto into = [&](auto sink) {
    stored.written = run_write(
        doing, total, flags,
        [&](WriteOptions write_options) {
          write_options.on_drop = store.on_drop;
          if (store.left_out == nullptr) return write(records, sink, write_options);
          SkippingSink leaving(sink, *store.left_out, store.to.form == StoreForm::lmdb);
          WriteProgress progress = write(records, leaving, write_options);
          progress.skipped -= leaving.skipped();
          progress.dropped += leaving.skipped();
          return progress;
        },
        store.where);
    stored.was_finished = sink.was_finished();
    if constexpr (requires { sink.updated(); }) stored.update = sink.updated();
  };
  switch (store.to.form) {
    case StoreForm::shards:
      into(shards_sink(store, flags));
      break;
    case StoreForm::hdf5:
      into(hdf5_sink(store, flags));
      break;
    case StoreForm::lmdb:
      into(lmdb_sink(store, flags));
      break;
    case StoreForm::folder:
      into(files_sink(store, flags));
      break;
  }
  return stored;
}

std::vector<std::string> lost_in(const OutputStore& store, const Schema& schema, std::uint64_t records,
                                 const std::function<std::string(std::uint64_t)>& key, bool had_checksums) {
  std::vector<std::string> lines;
  if (store.to.form == StoreForm::lmdb) return lines;
  const bool tar = store.to.form == StoreForm::shards, folder = store.to.form == StoreForm::folder;
  if ((tar || folder) && key && !store.number_keys)
    if (std::string line = lost_keys(records, key, tar); !line.empty()) lines.push_back(std::move(line));
  bool varying = false, batched = false;
  for (const Field& field : schema) {
    varying = varying || !field.shape.fixed();
    batched = batched || field.collate != Collate::dense();
    if (tar && webdataset_field(field.name) != field.name)
      lines.push_back(fmt::format("changed: the field {} is {} in the shards", printable(field.name),
                                  printable(webdataset_field(field.name))));
  }
  if (had_checksums && (tar || folder || varying))
    lines.push_back(fmt::format("left out: the records' checksums{}, which {} has none for",
                                tar || folder ? "" : " of fields of any size",
                                tar      ? "tar"
                                : folder ? "a folder"
                                         : "HDF5"));
  if (batched) lines.emplace_back("left out: how fields of any size are put into batches (pad, ragged)");
  return lines;
}

}  // namespace penstock::cli
