// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/file_access.hpp>

namespace penstock {

class RemoteClient;

/// What the bytes of a member become.
enum class WebDatasetKind : std::uint8_t {
  automatic,  ///< the last part of the first extension decides: `integer` for cls, cls2, class, count, index, inx and
              ///< id; `array` for npy; otherwise `bytes`
  bytes,      ///< u8[?], as they are
  integer,    ///< i64[], from decimal digits, which may have white space around them
  /// NumPy's .npy, in C order and little-endian. Dtype and rank are those of the first array in the first 100 samples;
  /// opening fails if none of these samples has an array that can be read. A dimension that differs among these samples
  /// is `dynamic`.
  array,
};

/// Which member of a sample is a field.
struct WebDatasetField {
  std::string name;  ///< the field's name
  /// Extensions of the member, without the first dot, in upper or lower case, separated by ';': "jpg;jpeg;png". A
  /// sample must have exactly one member with one of these extensions.
  std::string extensions;
  /// How the member's bytes are read.
  WebDatasetKind kind = WebDatasetKind::automatic;
};

/// Tar shards to read from, with members named as in WebDataset. A member's path up to the first dot of its base name
/// is the sample's key, and the rest is the extension. Members with the same key follow one another.
/// `from(WebDataset{.path = "train-{000000..000146}.tar"})` opens the shards.
struct WebDataset {
  using Source = class WebDatasetSource;  ///< the source that `from` opens
  // What most callers set.
  /// One of
  /// - the path of a shard;
  /// - a folder: all its files that end in .tar, in upper or lower case, are the shards;
  /// - a pattern with `{a,b}`, `{000..012}`, `*`, `?` and `[a-z]`;
  /// - a list of stores that `penstock merge` wrote, "X.json";
  /// - a URL of HTTP or HTTPS, which may have braces: "https://host/train-{000000..000146}.tar". Needs the component
  ///   `remote`;
  /// - a manifest, "X.txt", on this machine or at a URL: a text with a shard in each line. A line is a URL, or a path
  ///   relative to the manifest, and may have braces. Blank lines and lines that begin with '#' are skipped. All
  ///   shards are on this machine, or all on servers.
  ///
  /// Files from braces come in the order in which the braces list them. Files that a folder or a wildcard finds are
  /// ordered as people count: 2 comes before 10.
  std::string path;
  // What changes results.
  /// The fields. Default (empty): the first 100 samples of the first shard with samples decide. Each extension that
  /// more than half of these samples have becomes a field. The fields get the names for which WebDatasetSink writes
  /// these extensions:
  /// - jpg, jpeg, png, webp, gif, bmp, tif, tiff and bin are one field, "image", if no sample has two of these
  ///   extensions. Otherwise only the first of these extensions that exists is "image". If only bin exists, the field
  ///   is "bin";
  /// - cls is "label";
  /// - "mask.png", "box.npy" and "age.cls" are "mask", "box" and "age".
  ///
  /// Other fields are named like their extensions. So are fields that would otherwise have the same name.
  std::vector<WebDatasetField> fields = {};
  /// Names of the classes that the numbers of the field `label` stand for. Default (empty): the lines of a file next to
  /// the shards. For shards PATH-000000.tar and so on, this file is PATH-classes.txt, which WebDatasetSink writes, or
  /// classes.txt in their folder. For any other field of numbers, the file is PATH-classes-NAME.txt, with the field's
  /// name as NAME. The schema has the names of the classes.
  ClassNames classes = {};
  // What changes only speed and memory.
  /// Threads that read the shards' headers when the shards are opened. Default (0): all cores, at most 16.
  unsigned threads = 0;
  /// If true, the kernel's readahead stays on: good for reading in order, bad for shuffled reading.
  bool read_ahead = false;
  /// How members are read. With `FileAccess::read`, reading also throws if a shard was cut short or replaced after it
  /// was opened.
  FileAccess access = FileAccess::map;
  /// Bytes of the ranges in which shards on this machine are read, ahead of their use: for slow disks and for file
  /// systems of a network. Like `FileAccess::read`, reading then throws if a shard has changed. Default (0): samples
  /// are read one by one. Shards on servers are read in ranges of `Remote::range_bytes`.
  std::size_t range_bytes = 0;
  /// If true, the samples of X.tar on a server are found in the index file X.idx beside it, of the form v1.2 of DALI's
  /// wds2idx, if there is one. `penstock index` makes such files. Shards on this machine are always looked through.
  bool use_index = true;
  /// Reads shards on servers (`RemoteClient`). Default: a new client with the default options.
  std::shared_ptr<const RemoteClient> client = {};
};

/// Reads samples of one WebDatasetSource. Values of `bytes` and `array` are views of the shard's memory map, except
/// arrays whose elements are not aligned there. Other values, and all values with `FileAccess::read`, are copies. Only
/// one thread may use a reader at a time. A reader may outlive its source.
class PENSTOCK_API WebDatasetReader {
 public:
  ~WebDatasetReader();
  /// Reads a sample. Errors name the shard, the key, and the offset of the member's data.
  /// @throws Error(corrupt) if the sample lacks a field, has a field twice, or a member does not have the form of its
  /// kind. Also if the shard is not as its index file says.
  /// @throws Error(unsupported) if
  /// - a member is a link, a device or sparse, or its type is unknown;
  /// - a member's name is an absolute path, leads out of its folder, or has control characters;
  /// - an array is in Fortran order or big-endian, has more than 8 dimensions, or has elements that are not numbers.
  /// @throws Error(limit_exceeded) if a member's name has more than 65,536 bytes; Error(not_found) past the end.
  /// @throws Error(io), only with `FileAccess::read`, if the shard was cut short or replaced.
  void read(std::uint64_t index, SampleBuilder& out);
  /// Prepares for reading these samples next, in this order. Before each sample is read, prefetches the beginning of
  /// each of its members. Does nothing with `FileAccess::read`.
  void expect(std::span<const std::uint64_t> indices) noexcept;

 private:
  friend class WebDatasetSource;
  class Impl;
  explicit WebDatasetReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The samples of tar shards, shard by shard, in the order in which they are in the shards. No file is extracted.
/// Immutable; copies share the open shards. Any thread may use it.
///
/// Formats: ustar, GNU (long names, large sizes), pax (path, size) and tar of Unix V7. Directories are left out.
/// Members that have no key in WebDataset are left out too: their base names have no dot or begin with a dot, or their
/// paths begin and end with `__`. Links, devices and other members without data of their own are errors of their
/// sample. Shards should not change while they are open. If a shard is cut short while it is open, reading it ends the
/// process by SIGBUS. With `FileAccess::read`, reading throws instead.
///
/// Shards on servers are read in ranges of `Remote::range_bytes`, shards on this machine in ranges of
/// `WebDataset::range_bytes`, if that is set. Ranges are this source's blocks. The members of a
/// shard with an index file are found in it (`WebDataset::use_index`). Opening transfers any other shard once, because
/// only that finds its members. What an index file says is checked when it is read, and again when a member is: then
/// the blocks before the member are compared with it.
class PENSTOCK_API WebDatasetSource {
 public:
  /// Opens the shards: reads the header of every member, and the headers of arrays in the first 100 samples, but no
  /// other data. Keeps 16 bytes per field of a sample, 8 bytes per sample, and the keys. With an index file, up to 16
  /// bytes more per field.
  /// @throws Error(not_found) if a shard does not exist, the folder has no shards, or no file fits the pattern.
  /// @throws Error(invalid_argument) if
  /// - the pattern's braces are wrong, or stand for more than a million files;
  /// - a manifest names no shards, more than a million, or some on this machine and some on servers;
  /// - a file is given twice, also by different names;
  /// - no fields are given, and none can be found;
  /// - the given fields can't work;
  /// - WebDatasetSink has not finished the store.
  /// @throws Error(corrupt) if a shard is truncated, or has a damaged header. The error has the offset. Also if an
  /// index file can't be right. Then the error names the index file and the line.
  /// @throws Error(unsupported) if
  /// - a shard is compressed;
  /// - there are members after the end of the archive;
  /// - most samples of a shard have members that do not follow one another.
  /// @throws Error(io).
  ///
  /// A fault of a single member is an error of its sample.
  explicit WebDatasetSource(WebDataset options);

  /// Number of samples in all shards together.
  std::uint64_t size() const noexcept;
  /// The fields of each sample, as they were given or found.
  Schema schema() const;
  /// Opens a reader for one thread. From a server, it requests each member by itself, which is slow; a loader reads
  /// whole ranges.
  std::unique_ptr<WebDatasetReader> open_reader() const;

  // Shards that are read in ranges are a source of blocks; see BlockSource. Other shards have no blocks.
  /// Number of ranges in all shards.
  std::uint64_t blocks() const noexcept;
  /// Bytes of a range.
  std::uint64_t block_bytes(std::uint64_t block) const;
  /// Appends the ranges that a sample's members are in. @throws Error(not_found) past the end.
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const;
  /// Reads a range. @throws Error(io | not_found | network) like
  /// ByteSource::read.
  void load(std::uint64_t block, std::span<std::byte> bytes) const;
  /// Returns a range in memory of the client's own, or a map of it in the cache. Null for shards on this machine.
  /// @throws like `load`.
  std::shared_ptr<const std::byte> lend(std::uint64_t block) const;
  /// Makes a sample from its ranges. @throws like WebDatasetReader::read.
  void read(std::uint64_t index, std::span<const std::span<const std::byte>> blocks, SampleBuilder& out) const;
  /// How many ranges are wanted ahead. None without ranges.
  BlocksAhead blocks_ahead() const;
  /// Begins to transfer these ranges, or to read them from the disk.
  void will_load(std::span<const std::uint64_t> blocks) const noexcept;
  /// Breaks these transfers off. What the disk reads is not broken off.
  void will_not_load(std::span<const std::uint64_t> blocks) const noexcept;
  /// Takes memory for ranges of a server that wait to be loaded: at most `connections` x `range_bytes` of the client.
  MemoryAhead take_memory(std::size_t most) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "webdataset"; }
  /// The path or pattern that was given.
  std::string file() const;
  /// The shard that has the sample. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The sample's key: the path of its members up to the first dot of their base names, without a leading "./", as
  /// bytes. Samples of different shards may have the same key. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Hash of the shards' base names and sizes, of all samples' keys, of the positions of their members, and of
  /// `fields`.
  std::uint64_t identity() const noexcept;
  /// Hash of the `file_revision` of each shard when it was opened.
  std::uint64_t revision() const noexcept;
  /// Ends of the shards, for `shuffle({.blocks = true})`: the number of samples up to the end of each shard.
  std::vector<std::uint64_t> block_ends() const;
  /// Asks the kernel to fetch the samples' members. Costs almost nothing while the shards are in the page cache,
  /// because then the function only checks, from time to time, whether the shards still are there.
  void will_need(std::span<const std::uint64_t> indices) const noexcept;

  /// The fields as they were given, or found.
  const std::vector<WebDatasetField>& fields() const noexcept;
  /// Counts the files in the shards that belong to no field, by extension (the first 100 extensions of a shard). The
  /// entry "" counts files with further extensions, and files without a key.
  std::map<std::string, std::uint64_t> left_out() const;
  /// What the folder has besides shards: "12 files (.gz 8, .txt 4), 1 folder". Empty if it has only shards, or no
  /// folder was given. Hidden files, files of an operating system, and files that belong to the shards do not count.
  std::string passed_over() const;
  /// Lines for `plan()`: what `passed_over` returns, if it is not empty; index files that are not used, and why; how
  /// many shards have none, if others have one.
  std::vector<std::string> notes() const;
  /// What the client of shards on servers fetched so far.
  FetchCounts fetched() const;
  /// The shards' paths, in order.
  const std::vector<std::string>& shards() const noexcept;
  /// Number of the shard that has the sample. @throws Error(not_found) past the end.
  std::size_t shard_of(std::uint64_t index) const;
  /// Number of shards without tar's end mark. Such shards are read without an error. But a shard that was cut off
  /// between two members has no end mark either.
  std::uint64_t without_end() const noexcept;
  /// Number of members that `will_need` has asked the kernel for so far.
  std::uint64_t members_advised() const noexcept;

 private:
  class Impl;
  friend class WebDatasetReader;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
