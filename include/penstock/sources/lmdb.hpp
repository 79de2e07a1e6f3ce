// SPDX-License-Identifier: Apache-2.0
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
  automatic,  ///< `records` if the store has penstock's manifest, otherwise `raw`
  records,    ///< records of LmdbSink, with several fields and a checksum per record; the format is in
              ///< docs/formats/lmdb.md
  raw,        ///< the bytes of one field as they are, for example LSUN's encoded images: {image: u8[?]}
  /// Caffe's Datum: {image: u8[?], label: i64[]} if its images are encoded. Otherwise
  /// {image: u8[C, H, W], label: i64[]}, or f32 instead of u8 if the images are floats. The first record with an image
  /// decides for all. It is looked for in the store's first 100 records, and in 100 records that are spread over the
  /// others.
  datum,
};

/// An LMDB store to read from, in a folder (`train.lmdb/data.mdb`) or in a single file; both are recognized.
/// `from(Lmdb{.path = "train.lmdb"})` opens it.
struct Lmdb {
  using Source = class LmdbSource;  ///< the source that `from` opens
  // What most callers set.
  /// The folder of the store, or its file; or a list of stores that `penstock merge` wrote, "X.json".
  std::string path = {};
  /// Several stores read as one, one after the other, instead of `path`. Their fields and classes must be the same.
  std::vector<std::string> paths = {};
  // What changes results.
  /// What the store's values are.
  LmdbValues values = LmdbValues::automatic;
  std::string field = "image";    ///< raw, datum: name of the value's field
  std::string label = "label";    ///< datum: name of the label's field
  bool verify_checksum = true;    ///< records: compare each record's checksum (about 0.1 us per KB)
  bool allow_unfinished = false;  ///< read a store that a stopped LmdbSink left unfinished
  /// If true, each reader takes a slot in the store's lock file, and creates the file if it does not exist. Default:
  /// true.
  ///
  /// If false, and another process uses the lock file, readers take slots as with true. If false, and no process uses
  /// it, the source writes nothing next to the store. A process that writes to the store later then does not see the
  /// source's readers. After that process has written, reading throws Error(invalid_argument). Values that were read
  /// before are right, because each value is copied, and then the store is checked for a new transaction. But two
  /// transactions during one look-up, or during opening, may change the pages that are being read, and crash this
  /// process. Use false for short reads of stores without writers.
  bool lock_file = true;
  // What changes only speed and memory.
  /// If true, the kernel's readahead stays on: good for reading in key order, bad for shuffled reading.
  bool read_ahead = false;
  FileAccess access = FileAccess::map;  ///< how values are read; a key is always looked up in the map
};

/// Reads records of one LmdbSource. Values are views of the store's memory map if dtype and alignment allow it. With
/// `FileAccess::read`, or if the store is read without LMDB's lock file, values are copied from the store. A reader
/// holds one read transaction per store from the first `read` to the next `pause`. Only one thread may use it at a
/// time. A reader may outlive its source.
class PENSTOCK_API LmdbReader {
 public:
  ~LmdbReader();
  /// Reads a record.
  /// @throws Error(not_found) if the key was deleted; also past the end.
  /// @throws Error(corrupt | unsupported) with key, file and offset in the file; Error(io).
  /// @throws Error(forked) in a child process made by fork().
  /// @throws Error(invalid_argument) if the store is read without LMDB's lock file, and a process has written to it
  /// since.
  void read(std::uint64_t index, SampleBuilder& out);
  /// Prepares for reading these records next, in this order. Looks up the first 16 of them in each store, and fetches
  /// the beginning of each value shortly before the value is read. Does nothing with `FileAccess::read`.
  void expect(std::span<const std::uint64_t> indices) noexcept;
  /// Ends the transaction, so that a writing process can reuse space. The next `read` begins another one.
  void pause() noexcept;

 private:
  friend class LmdbSource;
  class Impl;
  class OfStore;
  explicit LmdbReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The records of an LMDB store, in the order of their keys. Several stores are read store by store. Immutable; copies
/// share the open store. Any thread may use it.
///
/// LMDB checks little of what it reads: open only stores that you trust. The source detects a file that lacks used
/// pages, a wrong number of records, and, in stores that LmdbSink wrote, any damage inside a record (if
/// `verify_checksum` is true). Damage in LMDB's own tree may crash the process. A store should not change while it is
/// open. The source does not see records that other processes add later.
///
/// Each reader takes a slot in the store's lock file. If the lock file can't be written, as on read-only media, or if
/// the disk has no room for it, readers take no slot, and `notes` reports that. In that case, no process is allowed to
/// write to the store. An LmdbSink or a cache is refused. Other programs are not refused, but after such a program has
/// written, reading fails with Error(invalid_argument).
///
/// A process may open a store any number of times. All its sources of the store share one map, with the `read_ahead`
/// and `lock_file` of the first source. If the first source uses no lock file, later sources use none either, and their
/// `notes` report that. After a later source with `lock_file` true was opened, an LmdbSink or a cache of another
/// process is refused as long as this process has the store open. A child made by fork() must open its own source: an
/// inherited source throws Error(forked).
class PENSTOCK_API LmdbSource {
 public:
  /// Opens the store and finds its keys. Keys are computed if they are consecutive numbers of fixed width (decimal with
  /// leading zeros, or big-endian). Otherwise one pass over the store reads the keys, and they stay in memory: the key
  /// and 8 bytes per record. After a value was looked up, its position stays in memory too, in 16 bytes per record.
  /// @throws Error(schema_mismatch) if a store's fields, classes or kind of values differ from those of the first
  /// store.
  /// @throws Error(not_found | io | corrupt | unsupported).
  /// @throws Error(invalid_argument) if
  /// - a store is named twice;
  /// - a store is unfinished, and `allow_unfinished` is false;
  /// - this process is writing to a store;
  /// - `values` does not fit a store.
  /// @throws Error(io) if the disk has no room for the lock file, and another process has the store open.
  explicit LmdbSource(Lmdb options);

  /// Number of records, without the manifest.
  std::uint64_t size() const noexcept;
  /// The fields of each record: the fields of the manifest, the fields of a Datum, or one field of raw bytes.
  Schema schema() const;
  /// Opens a reader for one thread. @throws Error(invalid_argument) if the store has no reader slot left.
  std::unique_ptr<LmdbReader> open_reader() const;

  /// What the values are, as it was given or found. Never `automatic`.
  LmdbValues values() const noexcept;
  /// The source's name in errors and `plan()`.
  std::string name() const { return "lmdb"; }
  /// For `plan()`: says which stores are read without a lock file, and why. If there are several stores, also says how
  /// many. Otherwise empty.
  std::vector<std::string> notes() const;
  /// The path of the data file. For several stores, it is the path of their list. Without a list, it is the path of the
  /// first store's data file.
  std::string file() const;
  /// The data file of the store that has the record. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The raw bytes of a record's key, which need not be text. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Hash of the number of records and of their keys. If keys are consecutive numbers, only the first and the last key
  /// count.
  std::uint64_t identity() const noexcept;
  /// Hash of the `file_revision` of the data file when it was opened, and of whether checksums are compared.
  std::uint64_t revision() const noexcept;
  /// Asks the kernel to fetch the records' values. Costs almost nothing while the store is in the page cache, because
  /// then the function only checks, from time to time, whether the store is still there.
  void will_need(std::span<const std::uint64_t> indices) const noexcept;

  /// The values of a scalar field of whole numbers, for records and Datums. Reads only the bytes of these values, so it
  /// compares no checksum. Returns none for other fields, for u64, for raw values, and with `FileAccess::read`.
  /// @throws what `read` throws.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;

  /// If the store is read without a lock file, checks that the store still holds what was read. Each `read` does this
  /// by itself.
  /// @throws Error(invalid_argument) if a process has written to the store since it was opened.
  void require_unchanged() const;
  /// Number of passes over all keys so far: 0 if keys are computed, otherwise 1.
  unsigned key_passes() const noexcept;
  /// Number of values that `will_need` has asked the kernel for so far.
  std::uint64_t values_advised() const noexcept;

 private:
  class Impl;
  class Stores;
  friend class LmdbReader;
  std::shared_ptr<const Stores> stores_;
};

}  // namespace penstock
