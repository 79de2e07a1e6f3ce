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

/// How a field is stored, where that differs from what the sink does with all.
struct Hdf5SinkField {
  /// A field of the pipeline.
  std::string field;
  std::string dataset = {};              ///< its path in the file, "train/x" makes a group; empty: the field's name
  std::uint64_t chunk_rows = 0;          ///< records a chunk; 0: as many as have 1 MiB, at least 1
  std::optional<unsigned> deflate = {};  ///< level of compression, 1 to 12; 0: not compressed
  std::optional<bool> shuffle = {};      ///< bytes of elements stored apart, which lets numbers shrink further
  std::optional<bool> fletcher32 = {};   ///< a checksum a chunk
};

/// Settings of an Hdf5Sink.
struct Hdf5SinkOptions {
  std::string path = {};     ///< "out/train" makes out/train-000000.h5, out/train-000001.h5, ...; folders are made
                             ///< where missing
  bool single_file = false;  ///< `path` is one file, "out/train.h5", of all samples
  // What changes results.
  std::vector<Hdf5SinkField> fields = {};  ///< the fields that shall not be stored as all others
  unsigned deflate = 4;                    ///< level of compression, 1 to 12; 0: not compressed
  std::optional<bool> shuffle = {};        ///< none: elements of more than one byte, where they are compressed
  /// A checksum for each chunk.
  bool fletcher32 = false;
  std::string keys = {};  ///< a dataset for the samples' keys, as strings, which the file's attribute "penstock_keys"
                          ///< names, so that Hdf5Source has them; empty: none
  std::uint64_t max_samples = 100'000;  ///< how many samples a shard has at most; bounds no single file
  /// Bytes that a shard has at most, as values before they are compressed; a sample larger than that has a shard of its
  /// own. Bounds no single file.
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  /// What makes the samples, where you say it yourself: a store is only continued by a run that says the same. Default:
  /// the pipeline and its data, as far as `write` knows them (`SinkJob::made_by`).
  std::string job = {};
  // What changes only speed.
  bool sync = true;  ///< every commit reaches the disk. false: only `finish` does: a crash of the whole machine (not of
                     ///< the process) may leave an unfinished store that is damaged
};

/// Writes samples into HDF5 files: `write(pipeline, sink)`. Each field becomes a dataset whose first dimension counts
/// samples, in compressed chunks that HDF5 1.8 and later, h5py and Hdf5Source read. Fields of fixed shape keep dtype
/// and shape (boolean is h5py's enumeration); those of shape [?] become variable-length sequences, which no filter
/// compresses. Chunks are compressed on the threads of `write`. Names of a field's classes become the attribute
/// `classes` of its dataset: 3750 at most with 60,000 bytes of text, as no attribute holds more; so have all fields and
/// the job together.
///
/// A run may be killed at any moment. Until `finish` every file's name ends in `.partial`, and files whose names begin
/// with `PATH.h5-unfinished` say what was committed, and who writes; Hdf5Source refuses shards it finds beside them. A
/// rerun of the same job goes on after the last commit, and the finished files are byte for byte those of an
/// undisturbed run. A rerun of a finished job changes nothing: see `was_finished`. One thread at a time.
class PENSTOCK_API Hdf5Sink {
 public:
  /// Touches nothing yet.
  explicit Hdf5Sink(Hdf5SinkOptions options);
  /// Takes over what the other one holds.
  Hdf5Sink(Hdf5Sink&&) noexcept;
  Hdf5Sink& operator=(Hdf5Sink&&) noexcept;
  /// What was put since the last commit is lost.
  ~Hdf5Sink();

  /// Threads that compress chunks; without any, `put` compresses them itself.
  void work_on(SinkThreads threads);
  /// @throws Error(state_mismatch) when unfinished files there were begun with another schema, job or options, or are
  /// damaged; Error(invalid_argument) when files there are finished and were made by something else, when another sink
  /// writes them, and for options that can't work; Error(schema_mismatch) for one of `fields` that isn't in the schema;
  /// Error(corrupt) when a finished file there is no HDF5 file, or was cut short; Error(unsupported) for a field that
  /// HDF5 can't hold; Error(io).
  void open(const SinkJob& job);
  /// True when an earlier run has committed the item. @throws Error(state_mismatch) when another sample stands in its
  /// place (where the number of samples is not known before: `put` does). Of a finished store nothing but the number of
  /// samples is compared: where that isn't known, every item is there.
  bool has(const SinkItem& item);
  /// True when `open` found something that an earlier run has committed.
  bool has_some() const;
  /// @throws Error(invalid_argument) for an item out of order, and when the store was finished before;
  /// Error(limit_exceeded) for a sequence of 2^32 elements or more; Error(io) when the disk is full.
  void put(const SinkItem& item, Sample& sample);
  /// From now on what was put survives a kill, and, with `sync`, a crash of the machine. @throws Error(io).
  void commit();
  /// @throws Error(invalid_argument) when fewer samples were put than `open` announced.
  void finish();
  /// The sink's name in errors.
  std::string name() const { return "hdf5"; }

  /// True when `open` found that an earlier run had finished.
  bool was_finished() const noexcept { return was_finished_; }

 private:
  class Impl;
  Hdf5SinkOptions options_;
  std::optional<SinkThreads> threads_;
  std::unique_ptr<Impl> impl_;
  bool was_finished_ = false;
};

}  // namespace penstock
