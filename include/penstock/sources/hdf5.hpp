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
#include <variant>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>

// CMake's package defines this macro, because a compiler cache may call the compiler with relative names, and __FILE__
// is then relative too.
#ifndef PENSTOCK_HDF5_HEADER
#define PENSTOCK_HDF5_HEADER __FILE__
#endif

namespace penstock {

/// A dataset, or a column of one, that becomes a field.
struct Hdf5Field {
  std::string dataset;      ///< path of the dataset in the file: "x", "/train/images"
  std::string member = {};  ///< the column's name in a compound type; '.' joins the names of nested columns
  /// The field's name. Default (empty): the dataset's path without its first '/', followed by "/" and `member` if
  /// `member` is given.
  std::string name = {};
  /// Another file that holds the dataset, for data sets that keep each field in a file of its own. Relative paths begin
  /// at the process's working directory, like `Hdf5::path`. Not allowed with several `paths`.
  std::string file = {};
  bool squeeze = false;  ///< leave out dimensions of size 1, also in array types: [N, 1, 1, 1] becomes a scalar
};

/// HDF5 files to read from. They have datasets whose first dimension counts records. `from(Hdf5{.path = "train.h5"})`
/// opens a file.
///
/// These types become tensors, in the machine's byte order:
/// - integers;
/// - floats: IEEE floats unchanged, other floats as f32 if they have fewer than 4 bytes, otherwise as f64;
/// - enumerations as integers; an enumeration of FALSE and TRUE in a byte as boolean;
/// - bit fields;
/// - fixed arrays of these types;
/// - opaque values as u8[n].
///
/// Strings become u8[?]; strings of fixed length lose their padding. Variable-length sequences become `[?]` of their
/// element type.
///
/// A dataset of whole numbers may have the attribute `classes`, a list of strings: the names of the classes that the
/// numbers stand for. If there is no such attribute, and the field is named `label` and has one number per record, the
/// file's own attribute `classes` is used. The schema has these names.
///
/// Chunks may be compressed by deflate, may be shuffled, and may have checksums. A build with PENSTOCK_HDF5_FILTERS
/// also reads lzf, lz4, zstd, blosc (1) and bitshuffle (plain, with lz4 or zstd), without the HDF5 library's plugins
/// for these filters. Chunks with other filters are read by the HDF5 library, if it has these filters. The library also
/// reads strings and sequences of variable length, and fields for which `Hdf5FieldInfo::reason` says so.
struct Hdf5 {
  using Source = class Hdf5Source;  ///< the source that `from` opens
  // What most callers set.
  /// A file, or a list of files that `penstock merge` wrote, "X.json".
  std::string path = {};
  /// Several files, one after the other, instead of `path`. Their fields must agree in name, dtype and shape.
  std::vector<std::string> paths = {};
  // What changes results.
  /// The datasets and columns that become fields. Default (empty): every dataset of the file, and each column of a
  /// compound dataset.
  ///
  /// The first dimensions of all these datasets must be equal.
  ///
  /// With the default, a dataset with several names gets the first name that is found, group by group. Datasets without
  /// a dimension, and datasets that can't be read because their filter or type is not supported, are left out, and
  /// `plan()` reports them. Opening fails if groups are nested more than 100 deep.
  std::vector<Hdf5Field> fields = {};
  /// The dataset with the records' keys, or "dataset/member" of a compound dataset. It has one value per record: a
  /// string, or a whole number, which becomes decimal digits. Strings of fixed length lose their padding. This dataset
  /// is a field only if `fields` names it.
  ///
  /// Default (empty): the dataset whose path is in each file's attribute "penstock_keys", which `Hdf5Sink` writes. If
  /// any file has no such attribute, no record has a key.
  std::string key = {};
  bool verify_checksum = true;  ///< if true, the Fletcher-32 checksums of chunks that have one are compared
  // What changes only speed and memory, and what a bad file can do.
  /// Datasets of at most this many bytes (labels, coordinates) are read whole when they are first needed, and stay in
  /// memory. All kept datasets together take at most four times `max_kept_bytes`. Datasets are kept in the order of
  /// files and fields, if they fit into this limit. The keys of all files together take at most `max_kept_bytes` more.
  /// With 0, no dataset is kept.
  std::size_t max_kept_bytes = 16u << 20;
  /// If true, the HDF5 library runs in a process of its own for each file. A file that was made to harm may crash or
  /// hang that process, but not this one. See `Hdf5Source`.
  bool isolate = false;
  /// The program of that process, penstock-hdf5-reader. Default (empty): the program that PENSTOCK_HDF5_READER in the
  /// environment names; otherwise the program that is installed with the library or with this header. The program in
  /// the build folder is used only by programs and shared libraries in that folder.
  std::string reader = {};
  std::size_t max_reader_bytes = std::size_t{2} << 30;  ///< memory that such a process may take; at least 64 MiB
  /// Milliseconds that such a process may take for one answer. It is ended if it takes longer. At least 1.
  std::uint32_t patience_ms = 20'000;
};

/// How the records of a field are read.
enum class Hdf5Way : std::uint8_t {
  kept,        ///< the dataset is read whole when it is first needed; records are then read from memory
  contiguous,  ///< records are read from their places in the file, by any number of threads
  chunks,      ///< runners decode stored chunks, each chunk once while it stays in memory
  library,     ///< the HDF5 library reads and converts chunks, one at a time; the chunks stay in memory like those of
               ///< `chunks`
  rows,        ///< the HDF5 library reads rows, one at a time
};

/// Returns the name of the value: "kept", "contiguous", …
PENSTOCK_API std::string_view to_string(Hdf5Way way) noexcept;

/// What is known about a field.
struct Hdf5FieldInfo {
  /// `name`: the field's name. `dataset`: the path of its dataset. `member`: the member of a compound dataset that is
  /// read; empty if the whole dataset is read. `file`: the dataset's file.
  std::string name, dataset, member, file;
  /// How its records are read.
  Hdf5Way way = Hdf5Way::rows;
  std::string storage;  ///< how the dataset is stored: "contiguous", "chunks of [32, 96, 96, 3], shuffle + deflate"
  std::string reason;   ///< why the field is not read in a faster way; empty if there is no reason
  /// Other files that have values of the field, or that lead to such files. Virtual datasets, external raw files and
  /// links have other files. Missing files are in the list, too.
  std::vector<std::string> other_files;
  std::uint64_t rows_per_chunk = 0;  ///< 0 if the dataset has no chunks
  bool converted = false;            ///< the HDF5 library converts each value, one at a time
  bool differs = false;    ///< the field is stored in another way in some files; this struct describes the first file
  bool checksums = false;  ///< every chunk has a Fletcher-32 checksum
  bool in_blocks = false;  ///< a chunk's rows are decoded together, and only once as long as they stay in memory
};

/// An attribute's value, in row-major order.
struct Hdf5Attribute {
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  /// Its elements.
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> values;
};

/// The records of HDF5 files, numbered through all files. Immutable; copies share the open files. Any thread may use
/// it.
///
/// The HDF5 library does one thing at a time, for all threads of a process together. So it is only asked where data are
/// stored, and runners do what takes time, above all decompression. Most chunks are blocks
/// (`Hdf5FieldInfo::in_blocks`). Such a chunk is not decoded again while it is in the loader's memory for blocks
/// (`max_block_bytes`). `shuffle({.blocks = true})` costs the same as reading in order if the chunks of its window of
/// blocks, of all fields together, fit in this memory. A full shuffle of compressed chunks with many rows decodes
/// nearly one chunk per row. `Pipeline::plan()` reports how each field is read, and what the order costs.
///
/// A thread that decodes needs memory for a chunk as it is stored. It needs memory for two more chunks if there are
/// several filters, or if chunks hold parts of rows. No budget includes this memory.
///
/// Most damage in HDF5 files is found. Data of fixed size must fit in the file's size, which is checked before memory
/// is allocated. Decompressed data must have their chunk's size. But the library itself trusts what it parses: a file
/// that was made to harm can crash the process. Open only files that you trust, or set `isolate = true`.
///
/// With `isolate`, this process never calls the library for a file. A second process calls the library, and reports
/// where chunks are. This process checks the second process's answers, and decodes the chunks itself. Records
/// are the same with and without `isolate`.
/// - If the file kills the second process, or an answer takes longer than `patience_ms`, the request fails with
///   Error(corrupt). The second process is then started again, but not after it has ended eight times for the same
///   file. After every 256 answers, one of these ends is forgotten.
/// - Threads that need the same file wait for each other. So the end of a loader may take `patience_ms` for each of
///   these threads.
/// - A crash or a hang of the library affects only the second process, whose memory is limited. The second process
///   loads no plugins of the library. It is not a sandbox: like the library, it follows links to other files.
/// - Each such process takes about 10 MB. A source has at most 64 of these processes. If the source has more files, the
///   process that was asked longest ago is ended. When that process's file is needed again, starting a new process
///   takes about 10 ms.
/// - These processes are children of the program. A program that waits for any child (`waitpid(-1)`) may see them end.
///   If the program calls fork(), the new child keeps the existing processes alive as long as it lives.
///
/// Keys are read when they are needed, about 1,000 consecutive keys or one chunk at a time. Keys stay in memory, with 8
/// bytes more per key, up to `max_kept_bytes`. If the keys do not fit into this limit, reading them in order costs one
/// read per 1,000 keys, and in any other order one read per key.
///
/// A program that uses HDF5 itself in other threads needs a thread-safe build of it (Debian's is), and must not call
/// H5close() while a source exists. The files must not change while the source exists. A child made by fork() must open
/// its own source: an inherited source throws Error(forked).
class PENSTOCK_API Hdf5Source {
 public:
  /// Opens the files. Do not pass `header`. Its default is the path of this header, by which a program with the static
  /// library finds penstock-hdf5-reader. The errors for named datasets also apply to the dataset that `Hdf5::key`
  /// names. If a file marks a dataset of keys that can't be read, records have no keys, and `plan()` reports that.
  /// @throws Error(not_found | io | corrupt) if a file can't be opened.
  /// @throws Error(not_found) if a dataset or member does not exist.
  /// @throws Error(schema_mismatch) if first dimensions differ, the files have different fields, or a file has no
  /// dataset with a dimension.
  /// @throws Error(unsupported) if
  /// - the element type of a named dataset can't be a field;
  /// - neither penstock nor the HDF5 library has the filter of a named dataset;
  /// - no dataset is named, and no dataset can be a field.
  /// @throws Error(invalid_argument) if the options can't work.
  explicit Hdf5Source(Hdf5 options, const char* header = PENSTOCK_HDF5_HEADER);

  /// Number of records in all files together.
  std::uint64_t size() const noexcept;
  /// The fields of each record, as they were given or found.
  Schema schema() const;
  /// Number of blocks in all files. A dataset that is read in blocks (`Hdf5FieldInfo::in_blocks`) has one block for the
  /// rows of each chunk.
  std::uint64_t blocks() const noexcept;
  /// Size of a decoded block in bytes.
  std::uint64_t block_bytes(std::uint64_t block) const;
  /// Appends the blocks that a record needs. @throws Error(not_found) past the end.
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const;
  /// If a block consists of the values of one field of consecutive records, returns the field and the records. Such a
  /// block can be decoded directly into a batch. Returns none for any other block, for example if a dataset's last
  /// chunk has room for more rows than are left.
  std::optional<BlockRows> rows_of(std::uint64_t block) const;
  /// Decodes a block.
  /// @throws Error(corrupt | io) with the file, the dataset, the chunk and, if it is known, the chunk's offset in the
  /// file.
  /// @throws Error(not_found) past the end, like all functions that take a block.
  void load(std::uint64_t block, std::span<std::byte> bytes) const;
  /// How many blocks are wanted ahead: 64, with 64 MiB together when they are decoded. None if there are no blocks, or
  /// blocks of less than 16 KiB.
  BlocksAhead blocks_ahead() const noexcept;
  /// Has the system read these blocks from the disk, on a thread of its own, if they are not in its memory.
  void will_load(std::span<const std::uint64_t> blocks) const noexcept;
  /// Leaves out those of them that were not asked for so far.
  void will_not_load(std::span<const std::uint64_t> blocks) const noexcept;
  /// Number of chunks that the system was asked to read ahead.
  std::uint64_t chunks_advised() const noexcept;
  /// Makes a record. `blocks`: the decoded blocks of `blocks_of(index)`, in the same order.
  /// @throws Error(corrupt | io) like `load`; Error(not_found) past the end.
  void read(std::uint64_t index, std::span<const std::span<const std::byte>> blocks, SampleBuilder& out) const;

  /// Copies one field of the `rows` records from `first` on, one value after the other, into `out`. `field`: the
  /// field's number in the schema. `out` must have exactly the size of these values. Use it to read a dataset, or a
  /// part of it, as one value. The calling thread decodes each chunk once, if possible directly into `out`. Keeps no
  /// more in memory than other reads do.
  /// @throws Error(invalid_argument) if there is no such field, if the field's shape varies, or if `out` has another
  /// size.
  /// @throws Error(not_found) past the end; Error(corrupt | io) like `load`.
  void read_rows(std::size_t field, std::uint64_t first, std::uint64_t rows, std::span<std::byte> out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "hdf5"; }
  /// True if `Hdf5::key` names the dataset of keys, or every file marks such a dataset.
  bool has_keys() const noexcept { return !keys().empty(); }
  /// The path of the dataset of keys in the first file; empty if there are no keys.
  const std::string& keys() const noexcept;
  /// Reads a record's key.
  /// @throws Error(invalid_argument) if there are no keys; Error(not_found) past the end; Error(corrupt | io) like
  /// `read`.
  /// @throws Error(limit_exceeded) if the key has more than 64 KiB.
  std::string key(std::uint64_t index) const;
  /// The first file, as it was given.
  std::string file() const;
  /// The file that the record is in, as it was given. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// Hash of the files' numbers of records and of the descriptions of fields and keys. Reads no values.
  std::uint64_t identity() const noexcept;
  /// Hash of the `file_revision` of each file when it was opened, and of whether checksums are compared. Files of
  /// fields, and other files that values come from (`Hdf5FieldInfo::other_files`), are included.
  std::uint64_t revision() const noexcept;
  /// For `shuffle({.blocks = true})`: for each file, the ends of the chunks of one field. Fields whose rows are decoded
  /// together (`Hdf5FieldInfo::in_blocks`) are preferred. Among fields that are equal in this, the field with the
  /// largest decoded chunks is chosen. Empty if no field has chunks.
  /// @throws Error(limit_exceeded) if there are more than a million chunks of which most were never written.
  std::vector<std::uint64_t> block_ends() const;
  /// The values of a scalar field of whole numbers. Reads only the field's dataset. Returns none for any other field,
  /// and if the source has no other field.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;
  /// For `Pipeline::plan()`: says how each field is read and why, from which other files values come, and which values
  /// from other files can't be read or were never written.
  std::vector<std::string> notes() const;
  /// A line for each stretch of rows that opening found to be unreadable, but only for the first few stretches of each
  /// dataset. The values of these rows come from other files that are missing, cut short, or not in the form that the
  /// dataset describes. Reading one of these rows throws Error(corrupt).
  std::vector<std::string> faults() const;

  /// What each field is and how it is read, in the schema's order.
  const std::vector<Hdf5FieldInfo>& fields() const noexcept;
  /// Names of the attributes of an object in the first file ("/" for the file's own). @throws Error(not_found | io).
  std::vector<std::string> attributes(std::string_view object) const;
  /// An attribute of an object in the first file; none if the object has no attribute of that name.
  /// @throws Error(not_found) if the object does not exist; Error(io).
  /// @throws Error(unsupported) if the type is neither numbers nor strings, or a whole number is above 2^63 - 1.
  std::optional<Hdf5Attribute> attribute(std::string_view object, std::string_view name) const;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
