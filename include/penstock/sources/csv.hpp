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

#include <penstock/class_names.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/file_access.hpp>

namespace penstock {

/// What the cells of a column become.
enum class CsvType : std::uint8_t {
  /// All records decide the type when the source is opened. The field is i64[] if every cell is a whole number of 64
  /// bits. Otherwise it is f64[] if every cell is a number, and every whole number is one that f64 holds exactly. In
  /// all other cases it is text. Missing cells do not count. Exception: they turn i64 into f64 if `Csv::missing_value`
  /// is set and i64 can't hold it.
  automatic,
  number,  ///< a scalar with the dtype `CsvColumn::dtype`
  text,    ///< u8[?], the cell's text without its quotes
  /// i64[], the number of the class that the cell's word names. Spaces and tabs around a word are not part of it.
  /// `CsvColumn::classes` lists the classes. Without a list, the classes are the different words in all files, in the
  /// order of their bytes; missing cells are not classes. `Field::classes` has the names, so joins match classes by
  /// name.
  classes,
};

/// A column that becomes a field.
struct CsvColumn {
  std::string column;  ///< the column's name in the header, or, without a header, its number from 0: "0"
  /// What the column's cells become.
  CsvType type = CsvType::automatic;
  /// The dtype if `type` is `number`: any dtype except f16 and bf16. For boolean, cells are 0, 1, true or false (also
  /// True, TRUE, False or FALSE). For floats, a number with a point or an exponent becomes the nearest float. A whole
  /// number that a float would round (16777217 as f32) is an error of its record.
  DType dtype = DType::f32;
  std::string field = {};  ///< name of the field. Default (empty): the column's name
  /// If `type` is `classes`: the names of the classes, number 0 first. A record with another word is a bad sample.
  /// Default (empty): the words in the files.
  ClassNames classes = {};
};

/// Columns that together become one field, a vector.
struct CsvVector {
  /// Name of the field.
  std::string field;
  std::vector<std::string> columns;  ///< the columns; each becomes one element, in this order
  DType dtype = DType::f32;          ///< dtype of the elements, like `CsvColumn::dtype`
};

/// A table to read from, in text files with one record per line. Its cells are separated by commas (RFC 4180), or by
/// another delimiter. `from(Csv{.path = "labels.csv"})` opens it.
/// `pair(images, Csv{.path = "labels.csv", .key = "file"})` adds the table's other columns to the images that its
/// column `file` names. The table's lines may be in any order.
///
/// A cell may be in double quotes. In quotes, a quote is written twice, and delimiters and line ends are text. Lines
/// end with LF or CRLF. Empty lines and a byte order mark are skipped. No line is a comment. Numbers are written as in
/// C ("-1.5e3", "nan", "inf"), with '.' in any locale. A number may have a '+' before it, and spaces or tabs around it.
/// The digits of a whole number are decimal.
struct Csv {
  using Source = class CsvSource;  ///< the source that `from` opens
  // What most callers set.
  /// A file, or a pattern with `*`, `?` and `[a-z]`. Files that fit a pattern are read in the order of their paths'
  /// bytes.
  std::string path;
  // What changes results.
  /// A column whose cells, without their quotes, are the records' keys: a file's name or an id, for example. `pair`,
  /// `zip` and a split by key use them. Default (empty): a key says where the record is, "labels.csv:00000017". Such a
  /// key does not match keys of other sources.
  std::string key = {};
  /// The columns that become fields. Default (empty): all columns that are neither the key nor in `vectors`, with their
  /// own names.
  std::vector<CsvColumn> columns = {};
  std::vector<CsvVector> vectors = {};  ///< fields that are vectors; they come after the fields of `columns`
  /// What separates cells. Default (0): a tab in files named *.tsv or *.tab. In other files: the first in the order
  /// comma, semicolon, tab that the header has outside of quotes. Without a header, or if the header has none of the
  /// three, a comma separates cells.
  char delimiter = 0;
  bool header = true;  ///< whether the first line of every file names its columns
  /// Cells that count as missing in columns of numbers, and in columns of classes if no class has that name. In
  /// a column of text they are text.
  std::vector<std::string> missing_cells = {"", "NA"};
  /// The number for missing cells in columns of numbers. Default (none): a missing cell is an error of its record. In
  /// columns of classes, a missing cell is an error whatever this is.
  std::optional<double> missing_value = {};
  // Limits.
  std::size_t max_record_bytes = std::size_t{16} << 20;  ///< opening fails if a record is longer than this
  /// Opening fails if a column of classes without a list has more different words than this, or more than 64 MiB of
  /// them.
  std::size_t max_classes = 100'000;
  // What changes only speed and memory.
  /// How records are read. With `FileAccess::read`, reading can also fail because a file was replaced after the source
  /// was opened.
  FileAccess access = FileAccess::map;
};

/// Reads records of one CsvSource. Only one thread may use it at a time. A reader may outlive its source.
class PENSTOCK_API CsvReader {
 public:
  ~CsvReader();
  /// Reads a record.
  /// @throws Error(corrupt), with the file, the key "file:line" (also if a column has the keys), the offset and the
  /// column's name, if
  /// - a cell is not a number of its dtype, or is a whole number that the dtype would round;
  /// - a cell is missing, and `Csv::missing_value` is not set, or the column is one of classes;
  /// - a word is not one of the classes of its column;
  /// - the record has more or fewer cells than the header.
  /// @throws Error(not_found) past the end; Error(io).
  void read(std::uint64_t index, SampleBuilder& out);
  /// Prepares for reading these records next: makes the processor fetch their text. Does nothing with FileAccess::read.
  void expect(std::span<const std::uint64_t> indices) noexcept;

 private:
  friend class CsvSource;
  class Impl;
  explicit CsvReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The records of text tables. Immutable; copies share the index. Any thread may use it.
///
/// Opening reads the files once to find where records begin, and keeps 4 bytes of memory per record. If the type of a
/// column is automatic, or the records decide its classes, opening reads the files a second time. If all types are
/// given, opening is about as fast as reading the files. Cells are parsed when they are read. The order of columns may
/// differ between files. The files must not change while the source is open.
class PENSTOCK_API CsvSource {
 public:
  /// Opens the files.
  /// @throws Error(not_found | io).
  /// @throws Error(corrupt), with the file and the line, if a quoted cell has no closing quote, or has text after its
  /// closing quote; also if a file is empty.
  /// @throws Error(limit_exceeded) if a record is longer than `max_record_bytes`, or a column has more different words
  /// than `max_classes`; the latter names the file and the line.
  /// @throws Error(unsupported) if a file is UTF-16.
  /// @throws Error(invalid_argument) if
  /// - a column does not exist, or exists twice;
  /// - two fields have the same name;
  /// - an option has a value that is not allowed, like a quote as `delimiter`, or a vector without columns;
  /// - two classes of a column have the same name, a class has spaces around its name, or a column that is not of
  ///   classes lists some;
  /// - a column's type is automatic, or its words would be its classes, and there is no record;
  /// - a column of classes without a list has only missing cells, or has more than 100 words, which all differ.
  explicit CsvSource(Csv options);

  /// Number of records in all files together.
  std::uint64_t size() const noexcept;
  /// One field for each of `Csv::columns`, then one for each of `Csv::vectors`.
  Schema schema() const;
  /// Opens a reader for one thread. @throws Error(io).
  std::unique_ptr<CsvReader> open_reader() const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "csv"; }
  /// The path as it was given.
  std::string file() const;
  /// The cell in the column `Csv::key`. If `Csv::key` is empty, the key is, for instance, "train.csv:00000017". It has
  /// the file's name (or its path, if two files have the same name) and the number, from 1, of the record's first line.
  /// The number has 8 digits, or more if the file's last line needs more. So keys of a file sort in the order of its
  /// records.
  /// @throws Error(not_found) past the end; Error(corrupt) if the record has no cell in that column; Error(io).
  std::string key(std::uint64_t index) const;
  /// Lists columns with an automatic type that became text for one of two reasons. Either a cell that is not a number
  /// comes after cells that are numbers, or the first cell is a number with a comma ("0,5"). Names that cell.
  std::vector<std::string> notes() const;
  /// Hash of the files' content and of the options that change results.
  std::uint64_t identity() const noexcept;
  /// Hash of the `file_revision` of each file when it was opened.
  std::uint64_t revision() const noexcept;
  /// Returns, for each file, the number of records up to its end, because each file is a block. Returns an empty list
  /// if there is only one file.
  std::vector<std::uint64_t> block_ends() const;

 private:
  class Impl;
  friend class CsvReader;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
