#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/export.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// In which order files are records.
enum class FilesOrder : std::uint8_t {
  natural,  ///< as people count: img2 before img10; folder by folder
  bytes,    ///< by the bytes of the path, as a store sorts its keys
};

/// A folder of files to read from, one record a file. `from(Files{.root = "train"})` lists it.
///
/// A file's class is the folder it is in, just below `root` (`train/cat/7.jpg`: "cat"); classes are numbered from 0 in
/// the order of their names' bytes, empty folders included, so that folders of training and of validation agree. With
/// `labels` it is what that file says instead, and only the files named there are records.
///
/// Names that begin with a dot are left out. Links are followed; a link to a folder it lies in is not, nor is one that
/// leads nowhere.
struct Files {
  std::string root;
  /// A CSV file of `file,label` lines: files as paths below `root`, labels whole numbers of 64 bits throughout, or
  /// names (numbered in the order of their bytes). Cells may be quoted; more cells a line are ignored; a first line
  /// whose first cell is file, filename, path, image or name is a heading.
  std::string labels = {};
  /// Without dot, upper or lower case; empty = all files. Files named in `labels` may have any.
  std::vector<std::string> extensions = {"jpg", "jpeg", "png", "bmp", "gif", "tif", "tiff", "webp"};
  FilesOrder order = FilesOrder::natural;
  std::string field = "image";  ///< name of the field with the file's bytes
  std::string label = "label";  ///< name of the field with the class's number
};

/// The files below a folder: {image: u8[?], label: i64[]}, or {image: u8[?]} where they lie in `root` itself and have
/// no labels. They are listed once, when this is made. Immutable; copies share the list; any thread.
class PENSTOCK_API FilesSource {
 public:
  /// @throws Error(not_found) for a missing folder, or a file that `labels` names and that isn't there; Error(corrupt)
  /// for a CSV file that isn't one; Error(invalid_argument) for an empty label or a number of more than 64 bits, and
  /// where some files have a class and others lie in `root` itself.
  explicit FilesSource(Files options);

  std::uint64_t size() const noexcept;
  Schema schema() const;
  /// Reads the whole file. @throws Error(not_found | io), with file, key and index.
  void read(std::uint64_t index, SampleBuilder& out) const;

  std::string name() const { return "files"; }
  /// The folder.
  std::string file() const;
  /// The file's path below the folder, "cat/7.jpg", as bytes. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Hash of all keys, labels and file sizes; looks at every file the first time. A file that is gone by then counts as
  /// one of a size no file has.
  std::uint64_t identity() const;
  /// Of the files' sizes and times: looks at each of them.
  std::uint64_t revision() const;

  /// Names of the classes by number; empty where labels are numbers, or there are none.
  const std::vector<std::string>& classes() const noexcept;
  /// Files with one of the `extensions` that `labels` doesn't name.
  std::uint64_t skipped() const noexcept;
  /// Files that are no records because of their extension: with `labels`, those that it doesn't name.
  std::uint64_t ignored() const noexcept;
  /// Links that couldn't be followed, and were left out; 0 with `labels`, which must name files that are there.
  std::uint64_t broken_links() const noexcept;
  /// The first line of `labels` whose label is of another kind than the first one's, whole number or name, or is a
  /// number with a fraction, which is neither. All labels are names then, whole numbers too. 0 = there is none such.
  std::uint64_t mixed_labels_line() const noexcept;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

/// Begins a pipeline over a folder of files.
inline Pipeline from(Files options) { return from(FilesSource(std::move(options))); }

}  // namespace penstock
