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
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/file_access.hpp>

namespace penstock {

/// What the bytes of a member become.
enum class WebDatasetKind : std::uint8_t {
  automatic,  ///< by the last part of the first extension: integer for cls, cls2, class, count, index, inx and id;
              ///< array for npy; else bytes
  bytes,      ///< u8[?], as they are
  integer,    ///< i64[], from decimal digits, with white space around them or not
  array,      ///< NumPy's .npy, in C order and little-endian; its dtype and rank are those of the first one among the
              ///< first 100 samples (opening fails where none of them has one), and a dimension that differs among
              ///< these is `dynamic`
};

/// Which members of a sample are one field of it.
struct WebDatasetField {
  std::string name;        ///< the field's name
  std::string extensions;  ///< extensions without the first dot, upper or lower case, separated by ';': "jpg;jpeg;png".
                           ///< A sample has exactly one of them
  /// How its bytes are understood.
  WebDatasetKind kind = WebDatasetKind::automatic;
};

/// Tar shards to read from as WebDataset names their members: what stands up to the first dot of the base name is the
/// sample's key, what is after it the extension, and members of one key follow one another.
/// `from(WebDataset{.path = "train-{000000..000146}.tar"})` opens them.
struct WebDataset {
  using Source = class WebDatasetSource;  ///< what it opens
  /// A shard; a folder, whose `*.tar` are the shards, in letters of either case; or a pattern with `{a,b}`,
  /// `{000..012}`, `*`, `?` and `[a-z]`. Braces keep the order in which they are written; what a folder or a wildcard
  /// finds is ordered as people count. Or a list of stores that `penstock merge` wrote, "X.json".
  std::string path;
  // What changes results.
  /// Empty: one field for each extension that more than half of the first 100 samples of the first shard have, named
  /// as WebDatasetSink's fields are: jpg, jpeg, png, webp, gif, bmp, tif, tiff and bin are one field, "image", where no
  /// sample has two of them (else the first of these that is there; bin alone is "bin"), cls is "label", and
  /// "mask.png", "box.npy" and "age.cls" are "mask", "box" and "age". Others, and those of which two would have one
  /// name, are named like the extension.
  std::vector<WebDatasetField> fields = {};
  /// Names of the classes that the field label counts. Empty: those in a file beside the shards, a line each:
  /// PATH-classes.txt for shards PATH-000000.tar and so on, as WebDatasetSink writes it, or classes.txt in their
  /// folder. Other fields of numbers have theirs in PATH-classes-NAME.txt. The schema says them.
  ClassNames classes = {};
  // What changes only speed.
  /// Threads that look through shards when they are opened; 0 = as many as there are cores, at most 16.
  unsigned threads = 0;
  bool read_ahead = false;  ///< leave the kernel's readahead on: for reading in order; harmful for shuffled reading
  FileAccess access = FileAccess::map;  ///< how members are read; by `FileAccess::read` a shard replaced while it is
                                        ///< open is an error too
};

/// Reads samples of one WebDatasetSource. Members are viewed in the shard's memory map. One thread at a time; may
/// outlive its source.
class PENSTOCK_API WebDatasetReader {
 public:
  ~WebDatasetReader();
  /// @throws Error(corrupt) for a sample that lacks a field, has it twice, or whose member isn't what its kind says;
  /// Error(unsupported) where the member is a link, or an array of another order or byte order; Error(io), with
  /// `FileAccess::read`, for a shard that has changed. With shard, key, and the offset of the member's data.
  void read(std::uint64_t index, SampleBuilder& out);
  /// Told which samples are read next, in this order: fetches each one's beginning before its turn.
  void expect(std::span<const std::uint64_t> indices) noexcept;

 private:
  friend class WebDatasetSource;
  class Impl;
  explicit WebDatasetReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The samples of tar shards, shard by shard in the order in which they lie there. Nothing is extracted. Immutable;
/// copies share the open shards; any thread.
///
/// Formats: ustar, GNU (long names, large sizes), pax (path, size) and tar of Unix V7. Directories are left out; so are
/// members that WebDataset gives no key: without a dot in the base name, with one at its beginning, and `__name__`.
/// Links, devices and other members without data of their own are errors of their sample. Shards should not change
/// while they are open: one that is cut short ends the process by SIGBUS, unless `access` is `FileAccess::read`.
class PENSTOCK_API WebDatasetSource {
 public:
  /// Looks at the header of every member: a pass over the shards that reads no data. Keeps 16 bytes for each field of a
  /// sample, 8 bytes for each sample, and the keys.
  /// @throws Error(not_found) for a shard that isn't there, or a pattern that fits none; Error(invalid_argument) for a
  /// pattern that can't be read, a file that is there twice, under whatever names, fields that can't be told, and a
  /// store that WebDatasetSink has not finished; Error(io); Error(corrupt) for a truncated shard or a damaged header,
  /// with its offset; Error(unsupported) for compressed shards, members after the end of the archive, and a shard in
  /// which the members of most samples lie apart. What is wrong with a member alone is an error of its sample.
  explicit WebDatasetSource(WebDataset options);

  /// Number of samples, of all shards together.
  std::uint64_t size() const noexcept;
  /// The fields of each sample, as they were given or found.
  Schema schema() const;
  /// A reader for one thread.
  std::unique_ptr<WebDatasetReader> open_reader() const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "webdataset"; }
  /// The path or pattern that was given.
  std::string file() const;
  /// The shard that has the sample. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The member's path up to the first dot of its base name, without a leading "./"; as bytes. Samples of several
  /// shards may share one. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Hash of the shards' base names and sizes, of all keys, of where their members lie, and of `fields`.
  std::uint64_t identity() const noexcept;
  /// Hash of each shard's `file_revision` as it was opened.
  std::uint64_t revision() const noexcept;
  /// The shards, for `shuffle({.blocks = true})`: after each, the number of samples up to there.
  std::vector<std::uint64_t> block_ends() const;
  /// Asks the kernel to fetch the samples' members. Costs next to nothing while the shards are in the page cache: it
  /// then only looks now and then whether that is still so.
  void will_need(std::span<const std::uint64_t> indices) const noexcept;

  /// The fields as they were given, or found.
  const std::vector<WebDatasetField>& fields() const noexcept;
  /// Files in the shards that no field takes: how many there are of each extension (of the first 100 in a shard). Under
  /// "" those of further extensions and those without a key.
  std::map<std::string, std::uint64_t> left_out() const;
  /// What lies in the folder and is no shard, "12 files (.gz 8, .txt 4), 1 folder"; empty where there is nothing, or no
  /// folder was named. What is hidden, an operating system's or made beside the shards does not count.
  std::string passed_over() const;
  /// The same, for `plan()`.
  std::vector<std::string> notes() const;
  /// The shards' paths, in order.
  const std::vector<std::string>& shards() const noexcept;
  /// Number of the shard a sample lies in. @throws Error(not_found) past the end.
  std::size_t shard_of(std::uint64_t index) const;
  /// Shards that end without tar's end mark. They are read, but one cut off between two members looks the same.
  std::uint64_t without_end() const noexcept;
  /// Members that `will_need` asked the kernel for so far.
  std::uint64_t members_advised() const noexcept;

 private:
  class Impl;
  friend class WebDatasetReader;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
