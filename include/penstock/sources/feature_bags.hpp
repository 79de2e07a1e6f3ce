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

/// What a network made of slides, to train on bags of it: one record a slide, with all its features. Reads what
/// `FeatureSink`, CLAM and TRIDENT write, an HDF5 file for each slide:
///
///     from(FeatureBags{.path = "features", .labels = "cohort.csv"}) | ragged("features") | ragged("coords") | batch(8)
///
/// A file has the dataset `features`, f32 or f16 [N, D] or [1, N, D], and `coords`, whole numbers [N, 2]. One without
/// rows is a record with none. Records have the fields `features` [?, D], `coords` i64 [?, 2] and the columns of
/// `labels`; their keys are the slides' names.
struct FeatureBags {
  using Source = class FeatureBagSource;  ///< what it opens
  /// A file, or a folder: its files that end in `.h5` and those of folders in it, by their paths' bytes; where it has
  /// none itself, and its folder `h5_files` has some, those alone. Links to folders are followed, and no folder is
  /// walked twice. What is hidden, or an operating system's, is skipped; `notes` counts other files. A slide has the
  /// name of its file without the ending, with the folders that it lies in.
  std::string path;
  // What changes results.
  std::string features = "features";  ///< the dataset of features
  std::string coords = "coords";      ///< the dataset of places; empty: records have no such field
  /// Features a row, D. 0: as many as the first file with rows has that can be read.
  std::uint64_t dimension = 0;
  /// The field `features` is f32 or f16. None: that of the file which says the dimension. Files of the other one are
  /// converted, to f16 rounding to the nearest.
  std::optional<DType> dtype = {};
  /// A CSV file with a header and a line for each slide: its columns become fields. Its cells are separated by commas,
  /// or by semicolons or tabs where commas make no table of it, or its name ends in .tsv. Spaces and tabs around names
  /// and cells are no part of them, quoted or not. Whole numbers become i64, other numbers f32, and text the number of
  /// a class, i64: classes are numbered from 0 in the order of their names' bytes, all lines of the file included, and
  /// the schema has their names. An empty cell or "NA" is missing; so is "N/A", "n/a", "#N/A", "NULL" or "null" where
  /// all other cells of the column are numbers. What is missing, and "nan", is NaN in a column of other numbers than
  /// whole ones, else an error. Where text makes classes of a column of which most cells are numbers, `notes` says so.
  /// A line names a slide by its name, by the end of it where no other has that end ("1" of `A/1`), or by a path that
  /// ends in it ("/data/A/1.svs"), with the ending of a slide's file, .h5, .pt or .npy, or without; what could be
  /// several slides' is an error. Lines of slides that are not there are passed over.
  std::string labels = {};
  /// The column with the slides' names. Empty: that in which most of the slides are named, of these the one with the
  /// fewest lines that name one again. Where two are as good and don't mean the same, it has to be said.
  std::string slide_column = {};
  /// The columns that become fields. Empty: all but `slide_column` and `group`.
  std::vector<std::string> columns = {};
  /// The column that says which slides belong together, a patient's say, for splits by group. Empty: each slide is a
  /// group.
  std::string group = {};
  /// What becomes of slides without a line in `labels`.
  enum class Unlisted : std::uint8_t {
    refuse,     ///< an error that lists them
    leave_out,  ///< they are left out
  };
  /// What becomes of them.
  Unlisted unlisted = Unlisted::refuse;
};

/// The slides of a folder of features. Opening lists files and reads the table; of the files it opens those alone that
/// say dimension and dtype, none where both are given, and reads no feature. A file is opened when its record is read,
/// and closed again. The HDF5 library does one thing at a time, so it only says where the data lie: whoever reads a
/// record reads and decodes them itself, right into the record, and several records are read side by side. Chunks are
/// read whole: while a record is read, a file with huge ones takes the memory of one, beside every budget. Immutable;
/// copies share all; any thread.
///
/// What is wrong with a file is an error of its record alone: one that is gone, or damaged, or that has features of
/// another dimension, or another number of places than of features.
class PENSTOCK_API FeatureBagSource {
 public:
  /// @throws Error(not_found) where there are no files, or `labels` isn't there; Error(invalid_argument) for options
  /// that can't work, two files of one slide (a.h5 and a.H5), slides without a line in `labels`, columns that aren't
  /// there, cells that are missing, and numbers that i64 and f32 don't hold; Error(corrupt) for a CSV file that isn't
  /// one; where no file says dimension and dtype, the error of the first one that can't be read.
  explicit FeatureBagSource(FeatureBags options);

  /// Number of slides.
  std::uint64_t size() const noexcept;
  /// {features: f32[?, D], coords: i64[?, 2], ...}.
  Schema schema() const;
  /// @throws Error(not_found) for a file, or a dataset in it, that isn't there, and past the end; Error(unsupported)
  /// for datasets of another form, or dimension; Error(corrupt) for numbers of rows that differ; Error(corrupt | io) as
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
  /// Hash of the slides' names, of what `labels` says of them, and of the options; no file is looked at.
  std::uint64_t identity() const noexcept;
  /// Tells the files as they are now.
  std::uint64_t revision() const noexcept;
  /// All columns of whole numbers and classes have them; nothing is read.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;
  /// The slides, or what `FeatureBags::group` says of them.
  std::vector<Group> groups() const;
  /// What was passed over, where dimension and dtype come from, and which columns of numbers became classes.
  std::vector<std::string> notes() const;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
