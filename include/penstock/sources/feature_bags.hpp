// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// Features that a network made of slides, for training on bags of features. Each slide is one record with all its
/// features. Reads the HDF5 files that `FeatureSink`, CLAM and TRIDENT write, one file per slide:
///
///     from(FeatureBags{.path = "features", .labels = "cohort.csv"}) | ragged("features") | ragged("coords") | batch(8)
///
/// Each file has two datasets: `features`, f32 or f16 [N, D] or [1, N, D], and `coords`, whole numbers [N, 2]. A file
/// whose datasets have no rows becomes a record without features. Records have the fields `features` [?, D] and
/// `coords` i64 [?, 2], and a field for each column of `labels`. A record's key is the slide's name.
struct FeatureBags {
  using Source = class FeatureBagSource;  ///< the source that `from` opens
  // What most callers set.
  /// A file, or a folder. In a folder and its subfolders, all files that end in `.h5` are read, in the order of their
  /// paths' bytes. If the folder itself has no such file, and its subfolder `h5_files` has some, at any depth, only the
  /// files of `h5_files` are read. Links to folders are followed, and no folder is read twice. The source
  /// skips hidden files and files that operating systems make. `notes` counts all other files that are not read. A
  /// slide's name is the path of its file without the ending, relative to the folder, or to `h5_files` if only its
  /// files are read. If `path` is a file, the slide has the file's name without the ending.
  std::string path;
  // What changes results.
  std::string features = "features";  ///< the dataset of features
  std::string coords = "coords";      ///< the dataset of places; empty: records have no field `coords`
  /// Number of features per row, D. Default (0): D of the first file that has rows and can be read.
  std::uint64_t dimension = 0;
  /// Whether the field `features` is f32 or f16. Default (none): the type in the first file that has rows and can be
  /// read. Features of the other type are converted. Conversion to f16 rounds to the nearest number.
  std::optional<DType> dtype = {};
  /// A CSV file with a header and a line for each slide. Its columns become fields. Default (empty): no file.
  ///
  /// Cells are separated by commas, or, if commas do not give all lines the same number of cells, by semicolons or
  /// tabs. In files named *.tsv or *.tab, tabs separate cells. Spaces and tabs around names and cells are ignored, also
  /// inside quotes. A column of whole numbers becomes i64. A column of numbers that are not all whole becomes f32. In
  /// any other column, cells are names of classes, and become the classes' numbers, i64. Classes are numbered from 0 in
  /// the order of their names' bytes, over all lines of the file, and the schema has their names. If a column becomes
  /// classes although most of its cells are numbers, `notes` reports that.
  ///
  /// A cell is missing if it is empty or "NA". If all other cells of the column are numbers, "N/A", "n/a", "#N/A",
  /// "NULL" and "null" are missing, too. In a column of f32, a missing cell and "nan" become NaN. In any other column,
  /// a missing cell is an error.
  ///
  /// A line names a slide by one of
  /// - the slide's name;
  /// - the end of the slide's name, if no other slide has that end ("1" of `A/1`);
  /// - a path that ends in the slide's name ("/data/A/1.svs").
  ///
  /// After any of these, .h5, .pt, .npy or the ending of a slide's file may follow. It is an error if a line could name
  /// any of several slides, or if two lines name the same slide. Lines that name no slide are skipped.
  std::string labels = {};
  /// The column with the slides' names. Default (empty): the column that names the most slides. If several columns name
  /// equally many slides, the one with the fewest lines that name a slide a second time is used. If columns are still
  /// tied and name different slides, opening throws.
  std::string slide_column = {};
  /// The columns that become fields. Default (empty): all that have a name, except `slide_column` and `group`.
  std::vector<std::string> columns = {};
  /// The column that says which slides belong together, for splits by group. An example is a column with the patients'
  /// names. Default (empty): each slide is a group of its own.
  std::string group = {};
  /// What to do with slides that have no line in `labels`.
  enum class Unlisted : std::uint8_t {
    refuse,     ///< throw an error that names the first few of them
    leave_out,  ///< leave them out
  };
  /// What to do with slides that have no line in `labels`. Default: throw an error.
  Unlisted unlisted = Unlisted::refuse;
};

/// The slides of a folder of features. Immutable; copies share everything. Any thread may use it.
///
/// Opening lists files and reads the table. It opens only the files that it needs to find `dimension` and `dtype`, and
/// none if both are given. It reads no features. A file is opened when its record is read, and closed after that. The
/// HDF5 library does one thing at a time, so it only reports where the data are. The thread that reads a record reads
/// and decodes the data itself, if possible directly into the record. So several records are read in parallel. Chunks
/// are read whole, so reading a record takes the memory of one chunk in addition. No memory budget includes this
/// memory. That matters only if chunks are huge.
///
/// A bad file is an error only for its record. A file is bad if it was deleted or damaged, if its features have another
/// dimension, or if its numbers of places and features differ.
class PENSTOCK_API FeatureBagSource {
 public:
  /// Lists the files and reads the table.
  /// @throws Error(not_found) if `path` or `labels` does not exist, or the folder has no file that ends in `.h5`.
  /// @throws Error(invalid_argument) if
  /// - the options can't work;
  /// - two files are of the same slide (a.h5 and a.H5);
  /// - a slide has no line in `labels`, and `unlisted` is `refuse`;
  /// - a column of `labels` does not exist, a cell is missing, or a number fits neither i64 nor f32;
  /// - a line of `labels` could name any of several slides, or two lines name the same slide;
  /// - no file has rows, and `dimension` or `dtype` is not given.
  /// @throws Error(corrupt) if `labels` is not a CSV file.
  /// @throws the error of the first file that can't be read, if `dimension` or `dtype` is not given and no file that
  /// can be read has rows.
  explicit FeatureBagSource(FeatureBags options);

  /// Number of slides.
  std::uint64_t size() const noexcept;
  /// The fields of a record: {features: f32[?, D] or f16[?, D], coords: i64[?, 2], a field for each column}.
  Schema schema() const;
  /// Makes a record. Reads the slide's features and places from its file.
  /// @throws Error(not_found) if the file, or a dataset in it, does not exist; also past the end.
  /// @throws Error(unsupported) if a dataset does not have the form that FeatureBags describes, or if the features have
  /// another dimension.
  /// @throws Error(corrupt) if `features` and `coords` have different numbers of rows; Error(corrupt | io) like
  /// Hdf5Source.
  void read(std::uint64_t index, SampleBuilder& out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "feature_bags"; }
  /// The path as it was given.
  std::string file() const;
  /// The slide's file. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The slide's name. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Hash of the slides' names, of the slides' values and groups in `labels`, of the fields, and of the datasets'
  /// names. Looks at no file.
  std::uint64_t identity() const noexcept;
  /// Hash of the present `file_revision` of each file. Looks at each file.
  std::uint64_t revision() const noexcept;
  /// The values of a field that is a column of whole numbers or classes; none for other fields. Reads no file.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;
  /// The groups that the column `FeatureBags::group` makes of slides. If no column is given, each slide is a group.
  std::vector<Group> groups() const;
  /// Says what was skipped, which file gave the dimension and the dtype, and which column was taken for the slides'
  /// names. Also says which columns became classes although most of their cells are numbers.
  std::vector<std::string> notes() const;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
