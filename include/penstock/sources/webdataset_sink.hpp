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
  automatic,  ///< `SinkItem::key`; as below where there is none
  position,   ///< the position in the pipeline, as `position_key` gives it
};

/// The extension a field gets.
struct WebDatasetExtension {
  /// A field of the pipeline.
  std::string field;
  std::string extension;  ///< without the first dot: "jpg", "seg.png"; letters, digits, '_', '-' and single dots
};

/// Settings of a WebDatasetSink.
struct WebDatasetSinkOptions {
  std::string
      path;  ///< "out/train" makes out/train-000000.tar, out/train-000001.tar, ...; folders are made where missing
  // What changes results.
  /// What keys are made of.
  WebDatasetKeys keys = WebDatasetKeys::automatic;
  /// Extensions of fields that shall not have the usual one: for u8[?] jpg, png, webp, gif, bmp or tif where the bytes
  /// begin like one, else bin; for i64[] cls; for any other npy. The field's name and a dot precede it, dots in the
  /// place of '/' and '_' in that of what isn't a letter of ASCII, a digit, '-' or '_': "mask.png", "box.npy"; but not
  /// of a u8[?] field "image" nor of an i64[] field "label". That is how WebDatasetSource finds the names again, in
  /// lower case. Other extensions of an i64[] field hold its digits, of an u8[?] field its bytes, of others .npy.
  std::vector<WebDatasetExtension> extensions = {};
  std::uint64_t max_samples = 10'000;  ///< how many samples a shard has at most
  /// Bytes that a shard's file has at most; a sample larger than that has a shard of its own.
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  /// What makes the samples, where you say it yourself: a store is only continued by a run that says the same. Default:
  /// the pipeline and its data, as far as `write` knows them (`SinkJob::made_by`).
  std::string job = {};
  // What changes only speed.
  bool sync = true;  ///< every commit reaches the disk. false: only `finish` does: a crash of the whole machine (not of
                     ///< the process) may leave an unfinished store that is damaged
};

/// A record's key as WebDatasetSink writes it, and WebDatasetSource gives it back. Empty for an empty one.
PENSTOCK_API std::string webdataset_key(std::string_view key);
/// A field's name as WebDatasetSource gives it back where no other extension was given.
PENSTOCK_API std::string webdataset_field(std::string_view name);

/// Writes samples into tar shards in WebDataset's form: `write(pipeline, sink)`.
///
/// Names of a field's classes go into a file beside the shards, a line each, the first one that of number 0:
/// "PATH-classes.txt" for the field label, "PATH-classes-NAME.txt" for others. Without names there is no such file.
///
/// Shards are ustar, the same bytes for the same samples; pax headers stand where a name or a size needs them. Keys are
/// made fit for file names: in the base name '.' becomes '_'; control characters, '\', '%', what isn't UTF-8, empty
/// components, "." and ".." are written as %XX. Two samples of one key in one shard are refused.
///
/// A run may be killed at any moment. Until `finish` every shard's name ends in `.partial`, and
/// `PATH.tar-unfinished.json` says how much was committed; WebDatasetSource refuses shards it finds beside that file.
/// One process writes, which has the lock `PATH.tar-unfinished.json.lock`; others that open it meanwhile are refused. A
/// rerun of the same job goes on after the last commit, and the finished shards are byte for byte those of an
/// undisturbed run. A rerun of a finished job changes nothing (see `was_finished`); finished shards of another are
/// refused. `PATH.tar-made-by.json`, which stays beside them, says what made them. One thread at a time.
class PENSTOCK_API WebDatasetSink {
 public:
  /// What a key may have as written, at most: longer names can't be unpacked on common file systems.
  static constexpr std::size_t max_key_bytes = 1024;

  /// Touches nothing yet.
  explicit WebDatasetSink(WebDatasetSinkOptions options);
  WebDatasetSink(WebDatasetSink&&) noexcept;
  WebDatasetSink& operator=(WebDatasetSink&&) noexcept;
  /// What was put since the last commit is lost.
  ~WebDatasetSink();

  /// @throws Error(state_mismatch) when unfinished shards there were begun with another schema, job or options, or are
  /// damaged; Error(invalid_argument) when shards there are finished and another job made them, or which one is not
  /// known, when another sink writes them, and for options that can't work; Error(io).
  void open(const SinkJob& job);
  /// True when an earlier run has committed the item. @throws Error(state_mismatch | invalid_argument) when another
  /// sample stands in its place (where the number of samples is not known before: `put` does).
  bool has(const SinkItem& item);
  /// True when `open` found something that an earlier run has committed.
  bool has_some() const;
  /// @throws Error(invalid_argument) for a key this shard has already, one longer than `max_key_bytes`, an item out of
  /// order, and when the store was finished before; Error(io) when the disk is full.
  void put(const SinkItem& item, Sample& sample);
  /// From now on what was put survives a kill, and, with `sync`, a crash of the machine. @throws Error(io).
  void commit();
  /// @throws Error(invalid_argument) when fewer samples were put than `open` announced.
  void finish();
  /// The sink's name in errors.
  std::string name() const { return "webdataset"; }

  /// True when `open` found that an earlier run had finished.
  bool was_finished() const noexcept { return was_finished_; }

 private:
  class Impl;
  WebDatasetSinkOptions options_;
  std::unique_ptr<Impl> impl_;
  bool was_finished_ = false;
};

}  // namespace penstock
