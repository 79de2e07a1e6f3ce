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
  fields,  ///< all fields and a checksum, with a manifest beside them: docs/formats/lmdb.md
  raw,     ///< the bytes of one u8[?] field and nothing else, as LSUN has it, for any reader of LMDB
};

/// What keys are made of.
enum class LmdbKeys : std::uint8_t {
  automatic,  ///< `SinkItem::key`; as below where there is none
  position,   ///< the position in the pipeline, as `position_key` gives it
};

/// What an LmdbSink does with a store at its path that another job made, or that holds other records.
enum class LmdbMode : std::uint8_t {
  create,  ///< refuses it
  update,  ///< makes this run's of it, where it has the same fields: all samples are made; those whose bytes are there
           ///< already stay, others are replaced or added, and what this run has no sample for is removed. Until the
           ///< end the store is unfinished, and is gone on with by an update only
  extend,  ///< refuses it, as `create` does, but a finished store of this job gets the records that it lacks. Until the
           ///< end it is unfinished
};

/// Settings of an LmdbSink.
struct LmdbSinkOptions {
  std::string path;  ///< a folder, made where missing, that gets `data.mdb`; or, with `single_file`, the file itself
  // What changes results.
  /// Whether records are fields, or the bare values of one.
  LmdbRecords records = LmdbRecords::fields;
  /// What keys are made of.
  LmdbKeys keys = LmdbKeys::automatic;
  std::string field = "image";  ///< raw: the field to write
  /// What makes the records, where you say it yourself: a store is only continued by a run that says the same. Default:
  /// the pipeline and its data, as far as `write` knows them (`SinkJob::made_by`).
  std::string job = {};
  /// What becomes of a store that is there already.
  LmdbMode mode = LmdbMode::create;
  bool single_file = false;  ///< `path` is the data file, its lock file is beside it
  // What changes only speed.
  bool sync = true;  ///< every commit reaches the disk. false: only `finish` does: a crash of the whole
                     ///< machine (not of the process) may leave an unfinished store that is damaged
  std::size_t map_bytes = 1024u << 20;  ///< size of the memory map at first; grows by half as needed
};

/// What an update did, in records.
struct LmdbUpdate {
  bool updating = false;  ///< a store was there that had to be brought up to date
  /// Records that were as they should be, were replaced, added and removed.
  std::uint64_t kept = 0, replaced = 0, added = 0, removed = 0;
};

/// Writes samples to an LMDB store: `write(pipeline, sink)`.
///
/// A run may be killed at any moment. The store is then marked as unfinished, LmdbSource refuses it, and a rerun of the
/// same job goes on after the last commit; the result has the same keys and values as that of an undisturbed run. A
/// rerun of a finished job changes nothing: see `was_finished`. Beside a store of raw values `made-by.json` (of a
/// single file `PATH-made-by.json`) says what made it, and stays. Fastest when keys arrive in the order of their bytes.
/// One thread at a time, and the same one from the first `has` or `put` to the `commit` after it.
class PENSTOCK_API LmdbSink {
 public:
  /// What LMDB takes as a key at most.
  static constexpr std::size_t max_key_bytes = 511;

  /// Touches nothing yet.
  explicit LmdbSink(LmdbSinkOptions options);
  LmdbSink(LmdbSink&&) noexcept;
  LmdbSink& operator=(LmdbSink&&) noexcept;
  /// What was put since the last commit is lost.
  ~LmdbSink();

  /// @throws Error(state_mismatch) when an unfinished store there was begun with another schema, job or options;
  /// Error(invalid_argument) when a store there is finished and differs, wasn't written by LmdbSink, or is open in this
  /// process or being written by another, or read without a lock file; Error(schema_mismatch) when raw records are
  /// asked for without their u8[?] field; Error(io), with how much room is needed, when the disk is full.
  void open(const SinkJob& job);
  /// True when an earlier run has committed the item. @throws Error(invalid_argument) for a key this run has put
  /// before.
  bool has(const SinkItem& item);
  /// True when `open` found records.
  bool has_some() const;
  /// @throws Error(invalid_argument) for a key that is there already, is longer than `max_key_bytes` or is the
  /// manifest's, and when the store was finished before; Error(limit_exceeded) for a record above 4 GiB; Error(io) when
  /// the disk is full.
  void put(const SinkItem& item, Sample& sample);
  /// From now on what was put survives a kill, and, with `sync`, a crash of the machine. @throws Error(io).
  void commit();
  /// @throws Error(invalid_argument) when the store holds keys that this run has neither found by `has` nor put.
  void finish();
  /// The sink's name in errors.
  std::string name() const { return "lmdb"; }

  /// True when `open` found that an earlier run had finished.
  bool was_finished() const noexcept { return was_finished_; }
  /// What `put` and `finish` have done so far to a store that is updated.
  LmdbUpdate updated() const noexcept;

 private:
  class Impl;
  LmdbSinkOptions options_;
  LmdbUpdate updated_;
  std::unique_ptr<Impl> impl_;
  bool was_finished_ = false;
};

}  // namespace penstock
