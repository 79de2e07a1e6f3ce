// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// What keys are made of.
enum class WebDatasetKeys : std::uint8_t {
  automatic,  ///< `SinkItem::key`; like `position` if the key is empty
  position,   ///< the position in the pipeline, written as by `position_key`
};

/// The extension of a field.
struct WebDatasetExtension {
  /// A field of the pipeline.
  std::string field;
  std::string extension;  ///< without the first dot: "jpg", "seg.png"; letters, digits, '_', '-' and single dots
};

/// Settings of a WebDatasetSink.
struct WebDatasetSinkOptions {
  // What most callers set.
  /// "out/train" makes out/train-000000.tar, out/train-000001.tar, ... Folders are created if missing.
  std::string path;
  // What changes results.
  /// What keys are made of.
  WebDatasetKeys keys = WebDatasetKeys::automatic;
  /// Extensions of fields that should not have the default extension.
  ///
  /// The default extension ends in
  /// - jpg, png, webp, gif, bmp or tif for a u8[?] field whose bytes begin like such a file, and bin if they do not;
  /// - cls for an i64[] field;
  /// - npy for any other field.
  ///
  /// Before this ending come the field's name and a dot: "mask.png", "box.npy". For a u8[?] field "image" and an i64[]
  /// field "label", the extension is only the ending. In the name, '/' becomes a dot. ASCII letters, digits, '-', '_'
  /// and dots stay, and every other character becomes '_'. A dot at the beginning or end of the name, or after another
  /// dot, becomes '_' too. WebDatasetSource finds the names again by this rule, in lower case. If an extension from
  /// this list ends in npy, the field is written as .npy. With any other extension from this list, an i64[] field is
  /// written as digits, a u8[?] field as its bytes, and any other field as .npy.
  std::vector<WebDatasetExtension> extensions = {};
  std::uint64_t max_samples = 10'000;  ///< largest number of samples per shard
  /// Largest size of a shard's file in bytes. A larger sample gets a shard of its own.
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  /// Your own name for what makes the samples. Only a run with the same name continues a store. Default (empty): the
  /// pipeline and its data, as far as `write` knows them (`SinkJob::made_by`).
  std::string job = {};
  /// If true, `finish` writes the index file X.idx beside each shard X.tar, like `write_index_files`. Then no key may
  /// have a space.
  bool index = false;
  // What changes only speed and memory.
  /// If true, every commit reaches the disk. If false, only `finish` does, and a crash of the whole machine (not of the
  /// process) may leave an unfinished store that is damaged.
  bool sync = true;
};

/// Returns a record's key as WebDatasetSink writes it, and as WebDatasetSource reads it. Returns an empty key
/// unchanged.
PENSTOCK_API std::string webdataset_key(std::string_view key);
/// Returns a field's name as WebDatasetSource finds it, if the field has its default extension.
PENSTOCK_API std::string webdataset_field(std::string_view name);

/// Writes samples into tar shards in WebDataset's form: `write(pipeline, sink)`.
///
/// Names of a field's classes go into a file next to the shards, one name per line, beginning with the name of class 0.
/// The file is "PATH-classes.txt" for the field `label`, and "PATH-classes-NAME.txt" for other fields. Without names
/// there is no such file.
///
/// Shards are ustar, with the same bytes for the same samples. Pax headers are used if a name or a size needs them.
/// Keys are changed so that they can be file names. In the base name, '.' becomes '_'. Control characters, '\', '%',
/// bytes that aren't UTF-8, empty components, "." and ".." are written as %XX. If two samples of a shard have the same
/// key, the second sample is refused.
///
/// A run may be killed at any moment. Until `finish`, every shard's name ends in `.partial`, and
/// `PATH.tar-unfinished.json` says how much was committed. While this JSON file exists, WebDatasetSource refuses the
/// shards. Only the process that holds the lock `PATH.tar-unfinished.json.lock` writes. Another sink that opens the
/// shards at that time is refused. A rerun of the same job continues after the last commit, and the finished shards are
/// byte for byte the same as without an interruption. A rerun of a finished job changes nothing (see `was_finished`).
/// Finished shards of another job are refused. `PATH.tar-made-by.json`, which stays next to the shards, says what made
/// the shards. Only one thread may use a sink at a time.
class PENSTOCK_API WebDatasetSink {
 public:
  /// Largest size of a written key in bytes. Longer names can't be unpacked on common file systems.
  static constexpr std::size_t max_key_bytes = 1024;

  /// Keeps the options. Does not touch the shards yet.
  explicit WebDatasetSink(WebDatasetSinkOptions options);
  WebDatasetSink(WebDatasetSink&&) noexcept;
  WebDatasetSink& operator=(WebDatasetSink&&) noexcept;
  /// Discards what was put since the last commit.
  ~WebDatasetSink();

  /// Opens the shards, or creates them.
  /// @throws Error(state_mismatch) if existing unfinished shards are damaged, or were begun with another schema, job or
  /// options.
  /// @throws Error(invalid_argument) if
  /// - existing shards are finished, and another job, or an unknown one, made them;
  /// - another sink writes them;
  /// - a file of class names next to the shards exists already, and readers would use it wrongly for these shards;
  /// - the options can't work.
  /// @throws Error(unsupported) if a field is bf16.
  /// @throws Error(io).
  void open(const SinkJob& job);
  /// Returns true if an earlier run has committed the item.
  /// @throws Error(state_mismatch | invalid_argument) if the earlier run has committed another sample at the item's
  /// position. If the number of samples is not known in advance, `put` throws the error instead.
  bool has(const SinkItem& item);
  /// Returns true if `open` found samples that an earlier run has committed.
  bool has_some() const;
  /// Writes a sample.
  /// @throws Error(invalid_argument) if
  /// - the current shard has the key already, or the key is longer than `max_key_bytes`;
  /// - with `WebDatasetSinkOptions::index`, the key has a space;
  /// - the item is out of order;
  /// - the store was finished before.
  /// @throws Error(io) if the disk is full.
  void put(const SinkItem& item, Sample& sample);
  /// Commits the samples that were put. They survive a kill of the process, and, with `sync`, a crash of the machine.
  /// @throws Error(io).
  void commit();
  /// Finishes the shards. @throws Error(invalid_argument) if the store has fewer samples than `SinkJob::size`.
  /// @throws Error(state_mismatch | invalid_argument) if that size is unknown, and an earlier run has committed samples
  /// that this run lacks.
  void finish();
  /// The sink's name in errors.
  std::string name() const { return "webdataset"; }

  /// True if `open` found that an earlier run had finished.
  bool was_finished() const noexcept { return was_finished_; }

 private:
  class Impl;
  WebDatasetSinkOptions options_;
  std::unique_ptr<Impl> impl_;
  bool was_finished_ = false;
};

}  // namespace penstock
