// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// What LmdbSink writes as a record's value.
enum class LmdbRecords : std::uint8_t {
  fields,  ///< all fields and a checksum; the store also has a manifest: docs/formats/lmdb.md
  raw,     ///< only the bytes of one u8[?] field, like LSUN, for any reader of LMDB
};

/// What keys are made of.
enum class LmdbKeys : std::uint8_t {
  automatic,  ///< `SinkItem::key`; like `position` if the key is empty
  position,   ///< the position in the pipeline, written as by `position_key`
};

/// What an LmdbSink does with an existing store at its path that another job made, or that holds other records.
enum class LmdbMode : std::uint8_t {
  create,  ///< refuses the store
  /// Turns the store into this run's store, if both have the same fields, `records` and `keys`. All samples are made,
  /// even if the store has their records. Records with the same bytes stay, other records are replaced or added, and
  /// records without a sample in this run are removed. Until the update has finished, the store is unfinished, and only
  /// another update can continue it.
  update,
  /// Adds the records that the store lacks, if the store is a finished store of this job. Until they are added, the
  /// store is unfinished. With any other store, does the same as `create`.
  extend,
};

/// Settings of an LmdbSink.
struct LmdbSinkOptions {
  // What most callers set.
  std::string path;  ///< a folder that gets `data.mdb`, created if missing; or, with `single_file`, the file itself
  // What changes results.
  /// Whether records are fields, or only the values of one field.
  LmdbRecords records = LmdbRecords::fields;
  /// What keys are made of.
  LmdbKeys keys = LmdbKeys::automatic;
  std::string field = "image";  ///< the field to write if `records` is `raw`
  /// Your own name for what makes the records. Only a run with the same name continues a store. Default (empty): the
  /// pipeline and its data, as far as `write` knows them (`SinkJob::made_by`).
  std::string job = {};
  /// What to do with an existing store.
  LmdbMode mode = LmdbMode::create;
  bool single_file = false;  ///< if true, `path` is the data file; its lock file is next to it
  // What changes only speed and memory.
  /// If true, every commit reaches the disk. If false, only `finish` does, and a crash of the whole machine (not of the
  /// process) may leave an unfinished store that is damaged.
  bool sync = true;
  std::size_t map_bytes = 1024u << 20;  ///< bytes of the memory map at first; it grows by half as needed
};

/// What an update did, in records.
struct LmdbUpdate {
  bool updating = false;  ///< true if there was a store that had to be brought up to date
  /// Numbers of records that were already right, and that were replaced, added and removed.
  std::uint64_t kept = 0, replaced = 0, added = 0, removed = 0;
};

/// Writes samples to an LMDB store: `write(pipeline, sink)`.
///
/// A run may be killed at any moment. The store is then marked as unfinished, and LmdbSource refuses the store. A rerun
/// of the same job continues after the last commit. The result has the same keys and values as without an interruption.
/// A rerun of a finished job changes nothing: see `was_finished`. A finished store of raw values has a file that says
/// what made the store: `made-by.json` in the folder, or `PATH-made-by.json` next to a single file.
///
/// Writing is fastest if keys arrive in the order of their bytes. Only one thread may use a sink at a time. All calls
/// from the first `has` or `put` to the next `commit` must be on the same thread.
class PENSTOCK_API LmdbSink {
 public:
  /// Largest size of a key in bytes. The limit is LMDB's.
  static constexpr std::size_t max_key_bytes = 511;

  /// Keeps the options. Does not touch the store yet.
  explicit LmdbSink(LmdbSinkOptions options);
  LmdbSink(LmdbSink&&) noexcept;
  LmdbSink& operator=(LmdbSink&&) noexcept;
  /// Discards what was put since the last commit.
  ~LmdbSink();

  /// Opens the store, or creates it.
  /// @throws Error(state_mismatch) if an existing unfinished store was begun with another schema, job or options. Also
  /// if an update of the store was stopped, and `mode` is not `update`.
  /// @throws Error(invalid_argument) if an existing store
  /// - is finished and differs;
  /// - wasn't written by LmdbSink (but `update` accepts such a store of raw values);
  /// - is open in this process;
  /// - is being written by another process, or read without a lock file.
  /// @throws Error(schema_mismatch) if `records` is `raw`, and `field` is not a u8[?] field of the schema.
  /// @throws Error(io) if the disk is full; the error says how much room is needed.
  void open(const SinkJob& job);
  /// Returns true if an earlier run has committed the item. In an update, always returns false.
  /// @throws Error(invalid_argument) if this run has put the key before, and the key comes after all keys of earlier
  /// runs. For other keys that were put before, `finish` throws.
  bool has(const SinkItem& item);
  /// Returns true if `open` found records. In an update, returns false.
  bool has_some() const;
  /// Writes a sample.
  /// @throws Error(invalid_argument) if
  /// - the store has the key already, or, in an update, this run has put the key before;
  /// - the key is longer than `max_key_bytes`, or is the manifest's key;
  /// - the store was finished before.
  /// @throws Error(limit_exceeded) if the record has 4 GiB or more; Error(io) if the disk is full.
  void put(const SinkItem& item, Sample& sample);
  /// Commits the samples that were put. They survive a kill of the process, and, with `sync`, a crash of the machine.
  /// @throws Error(io).
  void commit();
  /// Finishes the store.
  /// @throws Error(invalid_argument) if the store holds keys that this run has neither found by `has` nor put.
  void finish();
  /// The sink's name in errors.
  std::string name() const { return "lmdb"; }

  /// True if `open` found that an earlier run had finished.
  bool was_finished() const noexcept { return was_finished_; }
  /// What `put` and `finish` have done so far to a store that is being updated.
  LmdbUpdate updated() const noexcept;

 private:
  class Impl;
  LmdbSinkOptions options_;
  LmdbUpdate updated_;
  std::unique_ptr<Impl> impl_;
  bool was_finished_ = false;
};

}  // namespace penstock
