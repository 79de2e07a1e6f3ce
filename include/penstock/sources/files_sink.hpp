#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// What the names of files are made of.
enum class FilesKeys : std::uint8_t {
  automatic,  ///< `SinkItem::key`; as below where there is none
  position,   ///< the position in the pipeline, as `position_key` gives it
};

/// Settings of a FilesSink.
struct FilesSinkOptions {
  std::string path;  ///< a folder, which is made where it is missing, and must be empty
  // What changes results.
  /// What the names of files are made of.
  FilesKeys keys = FilesKeys::automatic;
  std::string field = "image";  ///< the field that becomes a file, u8[?]: an encoded image, or other bytes
  /// What makes the samples, where you say it yourself: a store is only continued by a run that says the same. Default:
  /// the pipeline and its data, as far as `write` knows them (`SinkJob::made_by`).
  std::string job = {};
  // What changes only speed.
  bool sync = true;  ///< every commit reaches the disk. false: only `finish` does: a crash of the whole machine (not of
                     ///< the process) may leave an unfinished folder that is damaged
};

/// A record's key as FilesSink writes it, and FilesSource gives it back. Empty for an empty one.
PENSTOCK_API std::string files_key(std::string_view key);

/// Writes samples as files into a folder, where any program opens them: `write(pipeline, sink)`.
///
/// The bytes of `field` become the file "PATH/KEY.EXTENSION", in folders where the key has '/'. The extension is jpg,
/// png, webp, gif, bmp or tif where the bytes begin like one, else bin. Keys are made fit for names: control
/// characters, '\', '%', what isn't UTF-8, empty components, "." and "..", and a '.' at a component's beginning are
/// written as %XX. Two samples that would have one key so are refused.
///
/// All else is in the table "PATH/records.csv" (RFC 4180, lines end with LF): a header, then a line a sample, in the
/// pipeline's order. Its columns are `file`, the path below PATH; `label`, where there is such a field; then the other
/// fields, which must be scalars. Whole numbers are decimal, floats as few digits as give the same float again,
/// booleans true and false. A number of a class is the class's name, where the field has names (`Field::classes`) and
/// one of that number. `Files{.root = PATH, .labels = PATH + "/records.csv"}` reads files and labels, `Csv` the table.
///
/// A run may be killed at any moment. A file that has its name is whole. Until `finish` the table is
/// `records.csv.partial`, and `records.csv-unfinished.json` says how much was committed; FilesSource refuses a folder
/// that has that. What is not committed yet lies in the folder `.unfinished`. One process writes, which has the lock
/// `records.csv-unfinished.json.lock`; others that open it meanwhile are refused. A rerun of the same job goes on after
/// the last commit, and the finished folder is byte for byte that of an undisturbed run. A rerun of a finished job
/// changes nothing (see `was_finished`); what made it is in `records.csv-made-by.json`. Of each sample that an earlier
/// run has committed 8 bytes are kept in memory. One thread at a time.
class PENSTOCK_API FilesSink {
 public:
  /// Touches nothing yet.
  explicit FilesSink(FilesSinkOptions options);
  /// Takes over what the other one holds.
  FilesSink(FilesSink&&) noexcept;
  FilesSink& operator=(FilesSink&&) noexcept;
  /// What was put since the last commit is lost.
  ~FilesSink();

  /// @throws Error(state_mismatch) when the folder is unfinished and was begun with another schema, job or options, or
  /// is damaged; Error(invalid_argument) when it is finished and another job made it, holds something else, when
  /// another sink writes it, for options that can't work, and where two classes of a field have one name or one has
  /// none; Error(schema_mismatch) where `field` isn't in the schema, or isn't u8[?]; Error(unsupported) for another
  /// field that is no scalar; Error(io).
  void open(const SinkJob& job);
  /// True when an earlier run has committed the item. @throws Error(state_mismatch | invalid_argument) when another
  /// sample stands in its place (where the number of samples is not known before: `put` does).
  bool has(const SinkItem& item);
  /// True when `open` found something that an earlier run has committed.
  bool has_some() const;
  /// Commits by itself where 65,536 samples wait for it.
  /// @throws Error(invalid_argument) for a key, or a name, that is there already, for one of which a part has more than
  /// 255 bytes as a name, an item out of order, and when the folder was finished before; Error(io) when the disk is
  /// full.
  void put(const SinkItem& item, Sample& sample);
  /// From now on what was put survives a kill, and, with `sync`, a crash of the machine. All that waits to be written
  /// to the folder's file system goes with it. @throws Error(io).
  void commit();
  /// @throws Error(invalid_argument) when fewer samples were put than `open` announced.
  void finish();
  /// The sink's name in errors.
  std::string name() const { return "files"; }

  /// True when `open` found that an earlier run had finished.
  bool was_finished() const noexcept { return was_finished_; }

 private:
  class Impl;
  FilesSinkOptions options_;
  std::unique_ptr<Impl> impl_;
  bool was_finished_ = false;
};

}  // namespace penstock
