// SPDX-License-Identifier: Apache-2.0
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
  automatic,  ///< `SinkItem::key`; like `position` if the key is empty
  position,   ///< the position in the pipeline, written as by `position_key`
};

/// Settings of a FilesSink.
struct FilesSinkOptions {
  // What most callers set.
  /// A folder: an empty one, or one that an earlier run of the same job has written. It is created if it does not
  /// exist.
  std::string path;
  // What changes results.
  /// What the names of files are made of.
  FilesKeys keys = FilesKeys::automatic;
  std::string field = "image";  ///< the field that becomes a file, u8[?]: an encoded image, or other bytes
  /// Your own name for what makes the samples. Only a run with the same name continues a store. Default (empty): the
  /// pipeline and its data, as far as `write` knows them (`SinkJob::made_by`).
  std::string job = {};
  // What changes only speed and memory.
  /// If true, every commit waits until its data are on the disk. If false, only `finish` waits for that, and a crash of
  /// the whole machine (not of the process) may leave an unfinished folder that is damaged.
  bool sync = true;
};

/// Returns a record's key as FilesSink writes it, and as FilesSource reads it. Returns an empty key unchanged.
PENSTOCK_API std::string files_key(std::string_view key);

/// Writes samples as files into a folder, so that any program can open them: `write(pipeline, sink)`.
///
/// The bytes of `field` become the file "PATH/KEY.EXTENSION", in folders if the key has '/'. The extension is jpg, png,
/// webp, gif, bmp or tif if the bytes begin like such a file, otherwise bin. Some parts of keys can't be in names, and
/// are written as %XX: control characters, '\', '%', bytes that aren't UTF-8, empty components, "." and "..". A '.' at
/// the beginning of a component is written as %XX, too. If two samples have the same key after this change, the second
/// sample is refused.
///
/// All other fields go into the table "PATH/records.csv" (RFC 4180, lines end with LF). It has a header and a line per
/// sample, in the pipeline's order. Its columns are `file`, the path below PATH; `label`, if there is such a field;
/// then the other fields, which must be scalars. Whole numbers are decimal. Floats have the fewest digits that give the
/// same float again. Booleans are true and false. A number of a class is written as the class's name, if the field has
/// a name for it (`Field::classes`). `Files{.root = PATH, .labels = PATH + "/records.csv"}` reads the files and their
/// labels. `Csv` reads the table.
///
/// A run may be killed at any moment. A file with its final name is whole. Until `finish`, the table is
/// `records.csv.partial`, and `records.csv-unfinished.json` says how much was committed. FilesSource refuses a folder
/// that has this JSON file. Files that are not committed yet are in the folder `.unfinished`.
///
/// Only the process that holds the lock `records.csv-unfinished.json.lock` writes. Other processes that open the folder
/// at that time are refused. A rerun of the same job continues after the last commit, and the finished folder is byte
/// for byte the same as without an interruption. A rerun of a finished job changes nothing (see `was_finished`).
/// `records.csv-made-by.json` says what made the folder. The sink keeps 8 bytes of memory per sample that an earlier
/// run committed. Only one thread may use it at a time.
class PENSTOCK_API FilesSink {
 public:
  /// Keeps the options. Does not touch the folder yet.
  explicit FilesSink(FilesSinkOptions options);
  /// Takes over what the other sink holds.
  FilesSink(FilesSink&&) noexcept;
  FilesSink& operator=(FilesSink&&) noexcept;
  /// Discards what was put since the last commit.
  ~FilesSink();

  /// Opens the folder, or creates it.
  /// @throws Error(state_mismatch) if the folder is unfinished and damaged, or was begun with another schema, job or
  /// options.
  /// @throws Error(invalid_argument) if
  /// - the folder is finished, and another job made it;
  /// - the folder is not empty, and no FilesSink has begun to write to it;
  /// - another sink writes to the folder;
  /// - the options can't work;
  /// - two classes of a field have the same name, or the name of a class is empty.
  /// @throws Error(schema_mismatch) if `field` isn't in the schema, or isn't u8[?].
  /// @throws Error(unsupported) if another field is not a scalar.
  /// @throws Error(io).
  void open(const SinkJob& job);
  /// Returns true if an earlier run has committed the item.
  /// @throws Error(state_mismatch | invalid_argument) if the earlier run has committed another sample at the item's
  /// position. If the number of samples is not known in advance, `put` throws the error instead.
  bool has(const SinkItem& item);
  /// Returns true if `open` found samples that an earlier run has committed.
  bool has_some() const;
  /// Writes a sample. Commits when 65,536 samples wait for a commit.
  /// @throws Error(invalid_argument) if
  /// - the key, or the file's name that is made of it, exists already;
  /// - a part of the key would become a name of more than 255 bytes;
  /// - the name of the key's outermost folder begins with "records.csv";
  /// - a number that has no class name would look like a class's name in the table;
  /// - the item is out of order;
  /// - the folder was finished before.
  /// @throws Error(io) if the disk is full.
  void put(const SinkItem& item, Sample& sample);
  /// Commits the samples that were put. They survive a kill of the process, and, with `sync`, a crash of the machine.
  /// With `sync`, `commit` also flushes all other data that wait to be written to the folder's file system.
  /// @throws Error(io).
  void commit();
  /// Finishes the folder. @throws Error(invalid_argument) if fewer samples were put than `open` announced.
  void finish();
  /// The sink's name in errors.
  std::string name() const { return "files"; }

  /// True if `open` found that an earlier run had finished.
  bool was_finished() const noexcept { return was_finished_; }

 private:
  class Impl;
  FilesSinkOptions options_;
  std::unique_ptr<Impl> impl_;
  bool was_finished_ = false;
};

}  // namespace penstock
