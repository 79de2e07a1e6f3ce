// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// How a field is stored, if not like the other fields. If `deflate`, `shuffle` or `fletcher32` has no value, the value
/// in `Hdf5SinkOptions` is used.
struct Hdf5SinkField {
  /// Name of a field of the pipeline.
  std::string field;
  /// Path of the dataset in the file; "train/x" makes a group. Default (empty): the field's name.
  std::string dataset = {};
  /// Records per chunk. Default (0): 1024 if the field has shape [?]. If its shape is fixed, the records that fit in
  /// 1 MiB, at least 1 and at most 16,384. The limit of a shard's records is a limit for its chunks, too.
  std::uint64_t chunk_rows = 0;
  std::optional<unsigned> deflate = {};  ///< level of compression, 1 to 12; 0: not compressed
  std::optional<bool> shuffle = {};      ///< like `Hdf5SinkOptions::shuffle`
  std::optional<bool> fletcher32 = {};   ///< like `Hdf5SinkOptions::fletcher32`
};

/// Settings of an Hdf5Sink.
struct Hdf5SinkOptions {
  // What most callers set.
  /// The beginning of the files' paths: "out/train" makes out/train-000000.h5, out/train-000001.h5, ... Folders are
  /// created if missing.
  std::string path = {};
  bool single_file = false;  ///< if true, `path` is the one file with all samples, "out/train.h5"
  // What changes results.
  std::vector<Hdf5SinkField> fields = {};  ///< the fields that are not stored like the others
  unsigned deflate = 4;                    ///< level of compression, 1 to 12; 0: not compressed
  /// Whether the first bytes of all elements are stored together, then the second bytes, and so on. Default (none):
  /// true for compressed elements of more than one byte.
  std::optional<bool> shuffle = {};
  /// Whether each chunk has a Fletcher-32 checksum.
  bool fletcher32 = false;
  /// A dataset for the samples' keys, as strings. The file's attribute "penstock_keys" names it, so that Hdf5Source
  /// finds it. Default (empty): no keys are stored.
  std::string keys = {};
  std::uint64_t max_samples = 100'000;  ///< largest number of samples per shard; no limit for a single file
  /// Largest size of a shard in bytes, before compression. A larger sample gets a shard of its own. No limit for a
  /// single file.
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  /// Your own name for what makes the samples. Only a run with the same name continues a store. Default (empty): the
  /// pipeline and its data, as far as `write` knows them (`SinkJob::made_by`).
  std::string job = {};
  // What changes only speed, and what a crash of the machine may damage.
  /// If true, every commit waits until its data are on the disk. If false, only `finish` waits for that, and a crash of
  /// the whole machine (not of the process) may leave an unfinished store that is damaged.
  bool sync = true;
};

/// Writes samples into HDF5 files: `write(pipeline, sink)`.
///
/// Each field becomes a dataset whose first dimension counts samples, in compressed chunks that HDF5 1.8 and later,
/// h5py and Hdf5Source read. Fields of fixed shape keep dtype and shape (booleans become h5py's enumeration). Fields of
/// shape [?] become variable-length sequences, which no filter compresses. The threads of `write` compress chunks.
///
/// Names of a field's classes become the attribute `classes` of its dataset. An attribute holds at most 3750 names;
/// `open` refuses a field with more.
///
/// A run may be killed at any moment. Until `finish`, the names of all HDF5 files end in `.partial`. Files whose names
/// begin with `PATH.h5-unfinished`, or `PATH-unfinished` for a single file, say what was committed, and which process
/// writes. While they exist, Hdf5Source refuses the store. A rerun of the same job continues after the last commit, and
/// the finished files are byte for byte the same as without an interruption. A rerun of a finished job changes nothing:
/// see `was_finished`. Only one thread may use a sink at a time.
class PENSTOCK_API Hdf5Sink {
 public:
  /// Keeps the options. Does not touch the files yet.
  explicit Hdf5Sink(Hdf5SinkOptions options);
  /// Takes over what the other sink holds.
  Hdf5Sink(Hdf5Sink&&) noexcept;
  Hdf5Sink& operator=(Hdf5Sink&&) noexcept;
  /// Discards what was put since the last commit.
  ~Hdf5Sink();

  /// Sets the threads that compress chunks, for the next `open`. If no threads were set, `put` compresses chunks
  /// itself.
  void work_on(SinkThreads threads);
  /// Opens the files, or creates them.
  /// @throws Error(state_mismatch) if existing unfinished files are damaged, or were begun with another schema, job or
  /// options.
  /// @throws Error(invalid_argument) if
  /// - existing files are finished, and another job made them;
  /// - another sink writes them;
  /// - the options can't work.
  /// @throws Error(schema_mismatch) if one of `fields` isn't in the schema.
  /// @throws Error(corrupt) if an existing finished file is not an HDF5 file, or was cut short.
  /// @throws Error(unsupported) if HDF5 can't hold a field.
  /// @throws Error(io).
  void open(const SinkJob& job);
  /// Returns true if an earlier run has committed the item. For a finished store, items are not compared. `has` then
  /// returns true if the item's position is below the number of stored samples. If the number of samples is not known
  /// in advance, it then returns true for every item.
  /// @throws Error(state_mismatch) if the earlier run has committed another sample at the item's position. If the
  /// number of samples is not known in advance, `put` throws the error instead.
  bool has(const SinkItem& item);
  /// Returns true if `open` found samples that an earlier run has committed.
  bool has_some() const;
  /// Writes a sample.
  /// @throws Error(invalid_argument) if the item is out of order, a key that is to be stored has a NUL, or the store
  /// was finished before.
  /// @throws Error(limit_exceeded) if a sequence has 2^32 elements or more; Error(io) if the disk is full.
  void put(const SinkItem& item, Sample& sample);
  /// Commits the samples that were put. They survive a kill of the process, and, with `sync`, a crash of the machine.
  /// @throws Error(io).
  void commit();
  /// Finishes the files. @throws Error(invalid_argument) if fewer samples were put than `open` announced.
  void finish();
  /// The sink's name in errors.
  std::string name() const { return "hdf5"; }

  /// True if `open` found that an earlier run had finished.
  bool was_finished() const noexcept { return was_finished_; }

 private:
  class Impl;
  Hdf5SinkOptions options_;
  std::optional<SinkThreads> threads_;
  std::unique_ptr<Impl> impl_;
  bool was_finished_ = false;
};

}  // namespace penstock
