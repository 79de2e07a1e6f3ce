#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/file_access.hpp>

namespace penstock {

/// What the values of an LMDB store are.
enum class LmdbValues : std::uint8_t {
  automatic,  ///< records where the store holds penstock's manifest, else raw
  records,    ///< written by LmdbSink: several fields, a checksum each; the format is in docs/formats/lmdb.md
  raw,        ///< the bytes of one field as they are, e.g. LSUN's encoded images: {image: u8[?]}
  datum,  ///< Caffe's Datum: {image: u8[?], label: i64[]} when its images are encoded, else {image: u8[C, H, W], label:
          ///< i64[]}, or f32 where it holds floats; decided by the first record that holds an image, of the store's
          ///< first 100 and 100 spread over the others
};

/// An LMDB store to read from, of the layout with a folder (`train.lmdb/data.mdb`) or with a single file; either is
/// found. `from(Lmdb{.path = "train.lmdb"})` opens it.
struct Lmdb {
  using Source = class LmdbSource;  ///< what it opens
  /// The folder of the store, or its file; or a list of stores that `penstock merge` wrote, "X.json".
  std::string path = {};
  /// Several stores as one, instead of `path`: the records of each after those of the one before it. Their fields and
  /// classes must be the same.
  std::vector<std::string> paths = {};
  // What changes results.
  /// What its values are.
  LmdbValues values = LmdbValues::automatic;
  std::string field = "image";    ///< raw, datum: name of the value's field
  std::string label = "label";    ///< datum: name of the label's field
  bool verify_checksum = true;    ///< records: compare each record's checksum (about 0.1 us a KB)
  bool allow_unfinished = false;  ///< read what a stopped LmdbSink left behind
  /// Takes a slot in the store's lock file, and makes the file where it is missing. False: writes nothing beside the
  /// store, unless another process has it open. A later writer then does not see this reader. After it has written,
  /// reading throws Error(invalid_argument). Values read before that are right: each is copied, and then the store is
  /// checked for a new transaction. Two transactions during one look-up, or during opening, may change the pages being
  /// walked and crash the process. Use false for short reads of stores without writers. Default: true.
  bool lock_file = true;
  // What changes only speed.
  bool read_ahead = false;  ///< leave the kernel's readahead on: for reading in key order; harmful for shuffled reading
  FileAccess access = FileAccess::map;  ///< how values are read; a key is always looked up in the map
};

/// Reads records of one LmdbSource. Values are viewed in the store's memory map where dtype and alignment allow it, and
/// in a copy of the reader's own where it is read without LMDB's lock file.
/// Holds one read transaction from the first `read` to the next `pause`. One thread at a time; may outlive its source.
class PENSTOCK_API LmdbReader {
 public:
  ~LmdbReader();
  /// @throws Error(not_found) for a key that is gone; Error(corrupt | unsupported) with key, file and offset in the
  /// file; Error(io); Error(forked) in a child process made by fork(); Error(invalid_argument) where it is read without
  /// LMDB's lock file and somebody has written since.
  void read(std::uint64_t index, SampleBuilder& out);
  /// Told which records are read next, in this order: looks up those that were never read, at once, and fetches each
  /// value's beginning before its turn.
  void expect(std::span<const std::uint64_t> indices) noexcept;
  /// Ends the transaction, so that a writing process can reuse space; the next `read` begins another.
  void pause() noexcept;

 private:
  friend class LmdbSource;
  class Impl;
  class OfStore;
  explicit LmdbReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The records of an LMDB store, in the order of their keys; of several stores in the order of these. Immutable; copies
/// share the open store; any thread.
///
/// LMDB checks little of what it reads: open stores you trust. It notices a file that lacks pages in use, a wrong
/// number of records, and, in stores that LmdbSink wrote, any damage inside a record. Damage in LMDB's own tree may
/// crash the process. A store should not change while it is open; records that others add are not seen.
///
/// Readers take a slot each in the store's lock file; where that file can't be written to, as on read-only media, or
/// the disk has no room for one, they do without, which `notes` says, and nobody may write to the store meanwhile: an
/// LmdbSink or a cache is refused, other programs are not, and reading ends in Error(invalid_argument) once they have.
///
/// A process may open a store any number of times; all share one map, whose `read_ahead` and `lock_file` are the first
/// one's. A source that wants a lock file, and joins one that is open without, gets none: `notes` says so, and an
/// LmdbSink or a cache of another process is refused from then on, as long as the store is open here. A child made by
/// fork() must open its own: what it inherited throws Error(forked).
class PENSTOCK_API LmdbSource {
 public:
  /// Opens the store and learns its keys: computed where they are consecutive numbers of fixed width (decimal with
  /// leading zeros, or big-endian), otherwise by one pass over the keys, which are then kept in memory (key + 8 bytes
  /// each). Where a value lies is kept too, once it was looked up: 16 bytes a record, which are used as records are
  /// read.
  /// @throws Error(schema_mismatch) for stores with other fields or classes than the first; Error(not_found | io |
  /// corrupt | unsupported), and Error(invalid_argument) for a store that is named twice, for an unfinished store, one
  /// this process is writing to, or `values` that don't fit it; Error(io) too where the disk has no room for the lock
  /// file and another process has the store open.
  explicit LmdbSource(Lmdb options);

  /// Number of records, the manifest not counted.
  std::uint64_t size() const noexcept;
  /// The fields of each record: those of the manifest, of a Datum, or one of raw bytes.
  Schema schema() const;
  /// @throws Error(invalid_argument) when the store has no reader slot left.
  std::unique_ptr<LmdbReader> open_reader() const;

  /// What the values were found to be, or said to be: never `automatic`.
  LmdbValues values() const noexcept;
  /// The source's name in errors and `plan()`.
  std::string name() const { return "lmdb"; }
  /// What `plan()` says of how it is read: nothing, or that it is read without a lock file, and why.
  std::vector<std::string> notes() const;
  /// The data file; of several stores the list, or the first one's.
  std::string file() const;
  /// The data file of the store that has the record. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The raw bytes of a record's key, which need not be text. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Hash of the number of records and their keys (of the first and last one where they are consecutive numbers).
  std::uint64_t identity() const noexcept;
  /// Hash of the `file_revision` of the data file as it was opened, and of whether checksums are compared.
  std::uint64_t revision() const noexcept;
  /// Asks the kernel to fetch the records' values. Costs next to nothing while the store is in the page cache: it then
  /// only looks now and then whether that is still so.
  void will_need(std::span<const std::uint64_t> indices) const noexcept;

  /// The values of a scalar field of whole numbers, of records and Datums: their own bytes are read and no others, so
  /// no checksum is compared; none for raw values, which have no such field. @throws as `read`.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;

  /// Whether what was read without a lock file is still what the store holds. Each `read` asks this by itself.
  /// @throws Error(invalid_argument) where somebody has written to the store since it was opened.
  void require_unchanged() const;
  /// Passes over all keys made so far: 0 where keys are computed, else 1.
  unsigned key_passes() const noexcept;
  /// Values that `will_need` asked the kernel for so far.
  std::uint64_t values_advised() const noexcept;

 private:
  class Impl;
  class Stores;
  friend class LmdbReader;
  std::shared_ptr<const Stores> stores_;
};

}  // namespace penstock
