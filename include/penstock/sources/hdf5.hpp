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

// CMake's package says where this header is: a compiler cache may call the compiler with relative names.
#ifndef PENSTOCK_HDF5_HEADER
#define PENSTOCK_HDF5_HEADER __FILE__
#endif

namespace penstock {

/// A dataset, or a column of one, that becomes a field.
struct Hdf5Field {
  std::string dataset;      ///< its path in the file: "x", "/train/images"
  std::string member = {};  ///< the column's name in a compound type; names of nested ones are joined by '.'
  std::string name = {};    ///< the field's name; empty: the dataset's path without its first '/', and "/" + member
  std::string file = {};    ///< another file that holds it, for data sets that keep each field in a file of its own;
                            ///< relative names begin at the process's folder, like `Hdf5::path`. Not with several
                            ///< `paths`
  bool squeeze = false;  ///< leave dimensions of size 1 out, also an array's: a dataset [N, 1, 1, 1] becomes a scalar
};

/// HDF5 files to read from: datasets whose first dimension counts records. `from(Hdf5{.path = "train.h5"})` opens one.
///
/// Integers, floats (IEEE; others as f32 where they have fewer than 4 bytes, else as f64), enumerations (as integers;
/// of FALSE and TRUE in a byte as boolean), bit fields and fixed arrays of these become tensors, opaque values u8[n];
/// byte order is the machine's. Strings, fixed (without their padding) or variable, become u8[?], variable-length
/// sequences a `[?]` of their element.
///
/// The attribute `classes` of a dataset of whole numbers, a list of strings, names the classes these numbers stand for;
/// for a field label of one number a record also that attribute of the file. The schema says them.
///
/// Chunks may be compressed by deflate, and in a build with PENSTOCK_HDF5_FILTERS by lzf, lz4, zstd, blosc (1) and
/// bitshuffle (plain, with lz4 or zstd), without the library's plugins for these; also shuffled, and with checksums.
/// What else went through filters the HDF5 library reads, if it has them; so it does with strings and sequences of any
/// length, and with what its `reason` says.
struct Hdf5 {
  using Source = class Hdf5Source;  ///< what it opens
  /// One file; or a list of files that `penstock merge` wrote, "X.json".
  std::string path = {};
  std::vector<std::string> paths = {};  ///< several files one after the other, instead of `path`; their fields must
                                        ///< agree in name, dtype and shape
  // What changes results.
  std::vector<Hdf5Field> fields = {};  ///< empty: every dataset of the file, whose first dimensions must be equal; one
                                       ///< that has several names by the first of them, group by group; from a
                                       ///< compound dataset each column. What can't be read (a filter or a type that
                                       ///< is unsupported) or has no dimension is left out then, and `plan()` says
                                       ///< so; groups that are nested more than 100 deep are refused
  /// A dataset of the records' keys, or "dataset/member" of a compound one: strings, fixed (without their padding) or
  /// variable, as they stand there, or whole numbers, in decimal digits; one a record. It is no field then, unless
  /// `fields` names it. Empty: the dataset that the file itself marks (`Hdf5Sink` does, by the attribute
  /// "penstock_keys", which has its path), in every file; else the records have no keys
  std::string key = {};
  bool verify_checksum = true;  ///< compare Fletcher-32 checksums, where chunks have them
  // What changes only speed, and what a bad file can do.
  std::size_t max_kept_bytes = 16u << 20;  ///< a dataset of at most so many bytes (labels, coordinates) is read whole
                                           ///< when it is first needed and stays in memory; all together at most four
                                           ///< times as many, in the order of files and fields. 0: none is.
                                           ///< Keys of several files are kept together up to as many bytes
  bool isolate = false;  ///< the HDF5 library works in a process of its own for each file. A file that was made to
                         ///< harm may crash or hang that process, and not this one. See `Hdf5Source`
  /// The program of that process, penstock-hdf5-reader. Empty: the one that PENSTOCK_HDF5_READER in the environment
  /// names, else the one installed with the library or with this header; of the build folder only for a program or a
  /// shared library that lies there.
  std::string reader = {};
  std::size_t max_reader_bytes = std::size_t{2} << 30;  ///< memory that such a process may take; 64 MiB at least
  std::uint32_t patience_ms = 20'000;  ///< how long such a process may take for one answer; then it is ended
};

/// How the records of a field are read.
enum class Hdf5Way : std::uint8_t {
  kept,        ///< read whole when first needed, then from memory
  contiguous,  ///< read from its place in the file, by any number of threads
  chunks,      ///< chunks as they are stored, decoded by the runners, each once while it stays
  library,     ///< chunks read and converted by the HDF5 library, one at a time; they stay as the others do
  rows,        ///< row by row by the HDF5 library, one at a time
};

/// "kept", "contiguous", …
PENSTOCK_API std::string_view to_string(Hdf5Way way) noexcept;

/// What is known about a field.
struct Hdf5FieldInfo {
  /// Path of the dataset, and of a compound one the member that is read; empty: all of it.
  std::string name, dataset, member, file;
  /// How its records are read.
  Hdf5Way way = Hdf5Way::rows;
  std::string storage;                   ///< "contiguous", "chunks of [32, 96, 96, 3], shuffle + deflate"
  std::string reason;                    ///< why it goes this way, where there is a faster one; else empty
  std::vector<std::string> other_files;  ///< those that the values lie in, or come from: of virtual datasets, external
                                         ///< raw files and links; of those that are missing the names
  std::uint64_t rows_per_chunk = 0;      ///< 0 where it has no chunks
  bool converted = false;                ///< each value by the library, one at a time
  bool differs = false;                  ///< other files than the first, of which this tells, have it in another way
  bool checksums = false;                ///< every chunk has a Fletcher-32 checksum
  bool in_blocks = false;                ///< the rows of a chunk are decoded together, once while they stay in memory
};

/// An attribute's value, in row-major order.
struct Hdf5Attribute {
  std::vector<std::int64_t> shape;  ///< empty: a scalar
  /// What it holds.
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> values;
};

/// The records of HDF5 files, numbered through all files. Immutable; copies share the open files; any thread.
///
/// The HDF5 library does one thing at a time, in all threads of a process; so it is asked for what is stored, and what
/// takes time, decompression above all, is done by the runners. Chunks are blocks: each is decoded once while it stays
/// in the loader's `max_block_bytes`, so `shuffle({.blocks = true})` costs what reading in order costs while the chunks
/// of a window, of all fields, fit there; a full shuffle of compressed chunks of many rows decodes nearly a chunk a
/// row. `Pipeline::plan()` says which way each field goes, and what the order costs. Whoever decodes needs memory for a
/// chunk as it is stored, and for two more with several filters or where chunks hold parts of rows: that is in no
/// budget.
///
/// Damage that HDF5 files carry is mostly found: sizes of what is not of any length are compared with the file's before
/// anything is allocated, and what is decompressed must have its chunk's size. But the library itself trusts what it
/// parses: a file that was made to harm can crash the process. Open files you trust, or say `isolate = true`: then this
/// process never calls the library for the file. Another one does, which only says where chunks lie; they are decoded
/// here as ever, with the same bits, and everything it says is checked. Where the file kills it, or it takes longer
/// than `patience_ms`, that is Error(corrupt) of what was asked for, and it is started again, eight times a file, and
/// once more for every 256 answers. Threads that wait for the same file wait one after the other: a loader's end may
/// take `patience_ms` for each. It limits crashes, hangs and memory, and loads no plugins of the library; it is no
/// sandbox, and follows links to other files as the library does. Such a process takes some 10 MB; of a source's more
/// than 64 files those that were asked longest ago have none until they are asked again, which takes some 10 ms. They
/// are children of the program: one that waits for any child
/// (`waitpid(-1)`) may see them end; and a child made by fork()
/// keeps those that were there alive for as long as it lives.
///
/// Keys are read when they are asked for, some 1,000 that follow each other at a time, or a chunk of them. At most
/// `max_kept_bytes` of them stay in memory, with 8 bytes a key, however many records there are; beyond that, going
/// through them in order costs a read a thousand, and in any other order one each.
///
/// A program that uses HDF5 itself in other threads needs a build of it that is thread-safe (Debian's is), and must not
/// call H5close() while a source lives. The file must not change while it is open. A child made by fork() must open its
/// own: what it inherited throws Error(forked).
class PENSTOCK_API Hdf5Source {
 public:
  /// @throws Error(not_found | io | corrupt) for a file that can't be opened; Error(not_found) for a dataset or member
  /// that isn't there; Error(schema_mismatch) when first dimensions differ, or the files' fields do;
  /// Error(unsupported) for element types without a field and for filters that neither penstock nor the HDF5 library
  /// has, of datasets that are named, or where nothing is left;
  /// Error(invalid_argument) for options that can't work. A dataset of keys is held to the same; one that the file
  /// marks, and that can't be read, is left out, and `plan()` says so. `header` is never given: it says where this
  /// header is installed, from where a program with the static library finds penstock-hdf5-reader.
  explicit Hdf5Source(Hdf5 options, const char* header = PENSTOCK_HDF5_HEADER);

  /// Number of records, of all files together.
  std::uint64_t size() const noexcept;
  /// The fields of each record, as they were given or found.
  Schema schema() const;
  /// Number of blocks: the chunks of all fields and files.
  std::uint64_t blocks() const noexcept;
  /// Bytes that a block is decoded into.
  std::uint64_t block_bytes(std::uint64_t block) const;
  /// Appends the blocks that a record needs. @throws Error(not_found) past the end.
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const;
  /// The records and the field whose rows a block is, so that it can be decoded right into a batch; nothing where it is
  /// more than these.
  std::optional<BlockRows> rows_of(std::uint64_t block) const;
  /// @throws Error(corrupt | io) with file, dataset, chunk and, where it is known, its offset in the file;
  /// Error(not_found) past the end, as all that takes a block.
  void load(std::uint64_t block, std::span<std::byte> bytes) const;
  /// @throws Error(corrupt | io) as `load`; Error(not_found) past the end.
  void read(std::uint64_t index, std::span<const std::span<const std::byte>> blocks, SampleBuilder& out) const;

  /// Copies a field's values of `rows` records from `first` on, one after the other, into `out`, which has just that
  /// size: for whoever takes a dataset, or a stretch of it, as one value. The calling thread decodes each chunk once,
  /// into `out` itself where it can; nothing more is kept than for other reads. @throws Error(invalid_argument) for a
  /// field whose shape varies and for another size of `out`; Error(not_found) past the end; Error(corrupt | io) as
  /// `load`.
  void read_rows(std::size_t field, std::uint64_t first, std::uint64_t rows, std::span<std::byte> out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "hdf5"; }
  /// True where `Hdf5::key` names the dataset of keys, or every file marks one.
  bool has_keys() const noexcept { return !keys().empty(); }
  /// The path of the dataset of keys in the first file; empty where there are none.
  const std::string& keys() const noexcept;
  /// @throws Error(invalid_argument) where there are no keys; Error(not_found) past the end; Error(corrupt | io) as
  /// `read`; Error(limit_exceeded) for a key of more than 64 KiB.
  std::string key(std::uint64_t index) const;
  /// The first file, as it was given.
  std::string file() const;
  /// The file that the record is in, as it was given. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// Hash of the files' numbers of records and of what fields and keys are; values are not looked at.
  std::uint64_t identity() const noexcept;
  /// Hash of each file's `file_revision` as it was opened, of those too that fields are said to lie in, and those that
  /// values come from (`Hdf5FieldInfo::other_files`), and of whether checksums are compared.
  std::uint64_t revision() const noexcept;
  /// Ends of the chunks of that field whose rows of a chunk take most memory, those first that are decoded together;
  /// empty where no field has chunks. @throws Error(limit_exceeded) for more than a million chunks of which most were
  /// never written.
  std::vector<std::uint64_t> block_ends() const;
  /// The values of a scalar field of whole numbers: its dataset is read and no other.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;
  /// How each field is read and why, which other files its values come from, and what of them can't be read or was
  /// never written, for `Pipeline::plan()`.
  std::vector<std::string> notes() const;
  /// Which rows are known not to be readable since the source was opened, as they come from other files that are
  /// missing, cut short, or have another form than is said of them: the first few of each dataset, a line each. To
  /// read such a record is Error(corrupt).
  std::vector<std::string> faults() const;

  /// What each field is and how it is read, in the schema's order.
  const std::vector<Hdf5FieldInfo>& fields() const noexcept;
  /// Names of the attributes of an object ("/" for the file's own) in the first file. @throws Error(not_found | io).
  std::vector<std::string> attributes(std::string_view object) const;
  /// An attribute of an object in the first file; none where there is none of that name. @throws Error(not_found) for
  /// an object that isn't there, Error(unsupported) for a type other than numbers and strings and for whole numbers
  /// above 2^63 - 1, Error(io).
  std::optional<Hdf5Attribute> attribute(std::string_view object, std::string_view name) const;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
