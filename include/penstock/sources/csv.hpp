// SPDX-License-Identifier: Apache-2.0
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
  /// Decided by all records when the file is opened. It is i64[] if every cell is a whole number of 64 bits. It is
  /// f64[] if every cell is a number, and f64 holds the whole numbers among them exactly. Otherwise it is text. Missing
  /// cells do not count, except that they turn i64 into f64 if `Csv::missing_value` is not a whole number.
  automatic,
  number,  ///< a scalar of `CsvColumn::dtype`
  text,    ///< u8[?], the cell's text without its quotes
};

/// A column that becomes a field.
struct CsvColumn {
  std::string column;  ///< the column's name in the header, or, without a header, its number from 0: "0"
  /// What its cells are.
  CsvType type = CsvType::automatic;
  /// What a `number` becomes: any dtype except f16. boolean is 0, 1, true or false. A number with a point or an
  /// exponent becomes the nearest float. A whole number that a float would round (16777217 as f32) is an error of its
  /// record.
  DType dtype = DType::f32;
  std::string field = {};  ///< name of the field. Default (empty): the column's name
};

/// Columns that become one field, a vector.
struct CsvVector {
  /// Name of the field.
  std::string field;
  std::vector<std::string> columns;  ///< one element each, in this order
  DType dtype = DType::f32;          ///< what its elements become, like `CsvColumn::dtype`
};

/// A table in text files to read from, one record per line: comma-separated values (RFC 4180), or with another
/// delimiter. `from(Csv{.path = "labels.csv"})` opens it. `pair(images, Csv{.path = "labels.csv", .key = "file"})` adds
/// its columns to the images that a column names, in any order of its lines.
///
/// A cell may be in double quotes. In quotes, a quote is written twice, and delimiters and line ends are text. Lines
/// end with LF or CRLF. Empty lines and a byte order mark are skipped. There are no comments. Numbers are written as in
/// C ("-1.5e3", "nan", "inf"), with '.' in any locale. They may have a '+' before them, and white space around them. A
/// whole number's digits are decimal.
struct Csv {
  using Source = class CsvSource;  ///< what it opens
  // What most callers set.
  /// A file, or a pattern with `*`, `?` and `[a-z]`. Files that fit a pattern are read in the order of their names'
  /// bytes.
  std::string path;
  // What changes results.
  /// A column whose cells, without their quotes, are the records' keys: a file's name or an id, for example. `pair`,
  /// `zip` and a split by key use them. Default (empty): a key says where the record is, "labels.csv:00000017". It does
  /// not match keys of other sources.
  std::string key = {};
  /// Default (empty): all columns that are neither the key nor in a vector, by their own names.
  std::vector<CsvColumn> columns = {};
  std::vector<CsvVector> vectors = {};  ///< fields after those of `columns`
  /// What separates cells. Default (0): a tab for files named *.tsv or *.tab. For other files a comma, or the semicolon
  /// or tab that a header has if it has no comma outside of quotes.
  char delimiter = 0;
  bool header = true;  ///< the first line of every file names its columns
  /// Cells that count as missing where a number is expected. Text stays as it is.
  std::vector<std::string> missing_cells = {"", "NA"};
  /// The number for missing cells. Default (none): a missing cell is an error of its record.
  std::optional<double> missing_value = {};
  // Limits.
  std::size_t max_record_bytes = std::size_t{16} << 20;  ///< opening fails if a record is longer
  // What changes only speed and memory.
  /// How records are read. With `FileAccess::read`, a file that was replaced while it is open is an error too.
  FileAccess access = FileAccess::map;
};

/// Reads records of one CsvSource. One thread at a time. It may outlive its source.
class PENSTOCK_API CsvReader {
 public:
  ~CsvReader();
  /// Reads a record.
  /// @throws Error(corrupt) with file, key ("file:line", also if a column has the keys), offset and the column's name
  /// if
  /// - a cell is not a number of its dtype, or is a whole number that the dtype would round;
  /// - a cell is missing;
  /// - the record has more or fewer cells than the header.
  /// @throws Error(not_found) past the end; Error(io).
  void read(std::uint64_t index, SampleBuilder& out);
  /// Prepares for reading these records next: makes the processor fetch their lines.
  void expect(std::span<const std::uint64_t> indices) noexcept;

 private:
  friend class CsvSource;
  class Impl;
  explicit CsvReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The records of text tables. Immutable; copies share the index. Any thread may use it.
///
/// Opening reads the files once to find where records begin, which takes 4 bytes of memory per record. If types are
/// automatic, it reads them once more. If all types are given, opening is about as fast as reading the files. Cells are
/// parsed when they are read. The order of columns may differ between files. The files must not change while the source
/// is open.
class PENSTOCK_API CsvSource {
 public:
  /// Opens the files.
  /// @throws Error(not_found | io).
  /// @throws Error(corrupt) with file and line if a quote is not closed, or has text after it.
  /// @throws Error(limit_exceeded) if a record is longer than `max_record_bytes`.
  /// @throws Error(unsupported) if a file is UTF-16.
  /// @throws Error(invalid_argument) if
  /// - a column does not exist, or exists twice;
  /// - two fields have the same name;
  /// - the options can't work;
  /// - types are automatic and there is no record.
  explicit CsvSource(Csv options);

  /// Number of records, of all files together.
  std::uint64_t size() const noexcept;
  /// A field for each of `Csv::columns`, then for each of `Csv::vectors`.
  Schema schema() const;
  /// Opens a reader for one thread. @throws Error(io).
  std::unique_ptr<CsvReader> open_reader() const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "csv"; }
  /// The path as it was given.
  std::string file() const;
  /// The cell in the column `Csv::key`. Without such a column "train.csv:00000017": the file's name (its path, if two
  /// files have the same name) and the number, from 1, of the line at which the record begins. The number has 8 digits,
  /// or as many as the file's last line needs. So keys of a file sort in the order of its records.
  /// @throws Error(not_found) past the end; Error(corrupt) if the record has no such cell; Error(io).
  std::string key(std::uint64_t index) const;
  /// Columns that became text because of single cells, with the first such cell: if most cells are numbers, or if
  /// numbers have a comma ("0,5").
  std::vector<std::string> notes() const;
  /// Hash of the files' content and of the options that change results.
  std::uint64_t identity() const noexcept;
  /// Hash of the `file_revision` of each file when it was opened.
  std::uint64_t revision() const noexcept;
  /// Ends of the files, if there are several: files are blocks.
  std::vector<std::uint64_t> block_ends() const;

 private:
  class Impl;
  friend class CsvReader;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
