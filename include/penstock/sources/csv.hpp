#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/file_access.hpp>

namespace penstock {

/// What the cells of a column become.
enum class CsvType : std::uint8_t {
  automatic,  ///< decided by all records when the file is opened: i64[] where every cell is a whole number of 64 bits,
              ///< f64[] where every one is a number, and each whole one among them one that f64 has, else text. Missing
              ///< cells say nothing, but where `Csv::missing_value` is no whole number they make i64 f64
  number,     ///< a scalar of `CsvColumn::dtype`
  text,       ///< u8[?], as it stands in the cell, quotes resolved
};

/// A column that becomes a field.
struct CsvColumn {
  std::string column;  ///< the column's name, as the header says it, or, without a header, its number from 0: "0"
  /// What its cells are.
  CsvType type = CsvType::automatic;
  /// What a `number` becomes: any but f16; boolean is 0, 1, true or false. What has a point or an exponent becomes the
  /// nearest float; a whole number that a float would round (16777217 as f32) is an error of its record.
  DType dtype = DType::f32;
  std::string field = {};  ///< name of the field; empty: the column's
};

/// Columns that become one field, a vector.
struct CsvVector {
  /// Name of the field.
  std::string field;
  std::vector<std::string> columns;  ///< one element each, in this order
  DType dtype = DType::f32;          ///< what its elements become, as `CsvColumn::dtype`
};

/// A table in text files to read from, one record a line: comma-separated values (RFC 4180), or with another delimiter.
/// `from(Csv{.path = "labels.csv"})` opens it; `pair(images, Csv{.path = "labels.csv", .key = "file"})` puts its
/// columns beside the images that a column names, in whatever order its lines are.
///
/// A cell may be in double quotes, in which a quote is written twice, and delimiters and line ends stand for
/// themselves. Lines end with LF or CRLF; empty lines and a byte order mark are skipped. There are no comments. Numbers
/// are written as in C ("-1.5e3", "nan", "inf"), with '.' whatever the locale is, with a '+' or white space around them
/// or not; a whole number's digits are decimal.
struct Csv {
  using Source = class CsvSource;  ///< what it opens
  /// A file, or a pattern with `*`, `?` and `[a-z]`, whose files are read in the order of their names' bytes.
  std::string path;
  // What changes results.
  /// A column whose cells are the records' keys, as they stand there, quotes resolved: a file's name, say, or an id.
  /// `pair`, `zip` and a split by key go by them. Empty: a key says where the record stands, "labels.csv:00000017",
  /// which agrees with no key of another source.
  std::string key = {};
  std::vector<CsvColumn> columns = {};  ///< empty: every column but the key's that is in no vector, by its own name
  std::vector<CsvVector> vectors = {};  ///< fields after those of `columns`
  /// 0: a tab for files named *.tsv or *.tab. Else a comma; or, where a header has none outside of quotes, the
  /// semicolon or tab that it has.
  char delimiter = 0;
  bool header = true;  ///< the first line of every file names its columns
  /// What counts as no number. Text stays what it is.
  std::vector<std::string> missing_cells = {"", "NA"};
  std::optional<double> missing_value = {};  ///< stands for missing cells; none: they are an error of their record
  // Limits.
  std::size_t max_record_bytes = std::size_t{16} << 20;  ///< a record that is longer is an error when it is opened
  // What changes only speed.
  FileAccess access = FileAccess::map;  ///< how records are read; by `FileAccess::read` a file replaced while it is
                                        ///< open is an error too
};

/// Reads records of one CsvSource. One thread at a time; may outlive its source.
class PENSTOCK_API CsvReader {
 public:
  ~CsvReader();
  /// @throws Error(corrupt) with file, key ("file:line", also where a column has the keys), offset and the column's
  /// name for a cell that is no number of its dtype, is a whole number that it would round, is missing, or for a record
  /// with more or fewer cells than the header; Error(not_found) past the end; Error(io).
  void read(std::uint64_t index, SampleBuilder& out);
  /// Told which records are read next: has the processor fetch their lines.
  void expect(std::span<const std::uint64_t> indices) noexcept;

 private:
  friend class CsvSource;
  class Impl;
  explicit CsvReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The records of text tables. Opening goes through the files once to find where records begin (4 bytes of memory
/// each), once more where types are automatic; give types, and it is about as fast as the files can be read. Cells
/// are parsed when they are read. Files may have their columns in different orders. Immutable; copies share the index;
/// any thread. The files must not change while it is open.
class PENSTOCK_API CsvSource {
 public:
  /// @throws Error(not_found | io); Error(corrupt) with file and line for a quote that is not closed or has text after
  /// it; Error(limit_exceeded) for a record above `max_record_bytes`; Error(unsupported) for UTF-16;
  /// Error(invalid_argument) for a column that isn't there or is there twice, a field named twice, options that can't
  /// work, and automatic types without any record.
  explicit CsvSource(Csv options);

  /// Number of records, of all files together.
  std::uint64_t size() const noexcept;
  /// A field for each of `Csv::columns`, then for each of `Csv::vectors`.
  Schema schema() const;
  /// A reader for one thread. @throws Error(io).
  std::unique_ptr<CsvReader> open_reader() const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "csv"; }
  /// The path as it was given.
  std::string file() const;
  /// What stands in the column `Csv::key`, or without one "train.csv:00000017": the file's name (its path, where two
  /// have one name) and the line, from 1, at which the record begins, of 8 digits or as many as the file's last one
  /// needs, so that keys of a file sort as its records stand. @throws Error(not_found) past the end; Error(corrupt) for
  /// a record that has no such cell; Error(io).
  std::string key(std::uint64_t index) const;
  /// Columns whose type was found to be text for the sake of single cells, with the first such cell: where most are
  /// numbers, or where numbers have a comma ("0,5").
  std::vector<std::string> notes() const;
  /// Hash of the files' content and of the options that change results.
  std::uint64_t identity() const noexcept;
  /// Hash of each file's `file_revision` as it was opened.
  std::uint64_t revision() const noexcept;
  /// Files are blocks, where there are several.
  std::vector<std::uint64_t> block_ends() const;

 private:
  class Impl;
  friend class CsvReader;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
