// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/shape.hpp>
#include <penstock/sources/file_access.hpp>

namespace penstock {

/// What the values of a member become.
enum class JsonType : std::uint8_t {
  /// A number, or an array of numbers: `JsonField::dtype` and `JsonField::shape` say which. In fields of u8 and
  /// boolean, true is 1 and false is 0.
  number,
  text,  ///< u8[?], the string's characters in UTF-8
  /// i64[], the number of the class that the string names. `JsonField::classes` lists the classes. Without a list, the
  /// classes are the different strings in all files, in the order of their bytes. `Field::classes` has the names, so
  /// joins match classes by name.
  classes,
};

/// A member of each record that becomes a field.
struct JsonField {
  /// The member's path: "label", or "meta.label" for the member `label` of the object that is the member `meta`. A dot
  /// or a backslash in a name has a backslash before it.
  std::string member;
  /// What the member's values become.
  JsonType type = JsonType::number;
  /// The dtype if `type` is `number`: any dtype except f16 and bf16. For whole numbers, a number has no point and no
  /// exponent. For floats, a number with a point or an exponent becomes the nearest float. A whole number that a float
  /// would round (16777217 as f32) is an error of its record.
  DType dtype = DType::f32;
  /// The shape if `type` is `number`. Default: one number. An array of numbers is {n} or {dynamic}; arrays in arrays
  /// have up to 3 dimensions. Arrays in one array must have the same length.
  Shape shape = {};
  std::string field = {};  ///< name of the field. Default (empty): the path
  /// If `type` is `classes`: the names of the classes, number 0 first. A record with another string is a bad sample.
  /// Default (empty): the strings in the files.
  ClassNames classes = {};
};

/// Text files with one JSON object per line (JSON Lines, NDJSON); each line is a record.
/// `from(JsonLines{.path = "train.jsonl"})` opens them.
///
/// Files are UTF-8. Lines end with LF or CRLF; the last one may lack its end. Lines with nothing but space, and a byte
/// order mark at the beginning, are skipped. Each record is checked as a whole when it is read (RFC 8259): a line that
/// is not one JSON object is a bad sample. Members that are not fields may have any value.
/// Whole numbers are exact in all 64 bits, and floats are the nearest ones to the digits. -0 keeps its sign in floats.
/// NaN and Infinity are not JSON.
struct JsonLines {
  using Source = class JsonLinesSource;  ///< the source that `from` opens
  // What most callers set.
  /// A file, or a pattern with `*`, `?` and `[a-z]`. Files that fit a pattern are read in the order of their paths'
  /// bytes.
  std::string path;
  // What changes results.
  /// The path of a member whose values, strings or whole numbers, are the records' keys. `pair`, `zip` and a split by
  /// key use them. Default (empty): a key says where the record is, "train.jsonl:00000017".
  std::string key = {};
  /// The members that become fields. Default (empty): each member that more than half of the first 100 records have.
  /// The key is left out. Objects become one field for each of their members. Booleans are u8, strings are text, and
  /// numbers are i64, u64 or f64, the first that holds all of them exactly. If all these records have the same
  /// length in a dimension of an array, it is fixed. `notes` names members that can't be fields.
  std::vector<JsonField> fields = {};
  /// The number for a null, or for a member that is not there, in fields of one number; and for a null in an array.
  /// Default (none): both are errors of their record. In other fields they always are.
  std::optional<double> missing_value = {};
  // Limits.
  std::size_t max_record_bytes = std::size_t{16} << 20;  ///< opening fails if a line is longer than this
  /// Opening fails if a field of classes without a list has more different strings than this, or more than 64 MiB of
  /// them.
  std::size_t max_classes = 100'000;
  // What changes only speed and memory.
  /// How records are read. With `FileAccess::read`, reading can also fail because a file was replaced after the source
  /// was opened.
  FileAccess access = FileAccess::map;
};

/// Reads records of one JsonLinesSource. Only one thread may use it at a time. A reader may outlive its source.
class PENSTOCK_API JsonLinesReader {
 public:
  ~JsonLinesReader();
  /// Reads a record.
  /// @throws Error(corrupt), with the file, the line, the key "file:line", the offset and the member, if
  /// - the line is not one JSON object in UTF-8;
  /// - a member of a field is null or not there, and `JsonLines::missing_value` does not stand for it;
  /// - a member of a field, or an object on its path, comes twice in its object;
  /// - a value does not have its field's kind or shape, is outside the range of the dtype, or would be rounded;
  /// - a string of a field has half of a surrogate pair, or is not one of the classes.
  /// @throws Error(limit_exceeded) if a member that is not a field is nested more deeply than 512 levels.
  /// @throws Error(not_found) past the end; Error(io).
  void read(std::uint64_t index, SampleBuilder& out);
  /// Prepares for reading these records next: makes the processor fetch their text. Does nothing with FileAccess::read.
  void expect(std::span<const std::uint64_t> indices) noexcept;

 private:
  friend class JsonLinesSource;
  class Impl;
  explicit JsonLinesReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The records of files with one JSON object per line. Immutable; copies share the index. Any thread may use it.
///
/// Opening reads the files once to find where lines begin, and keeps 4 bytes of memory per record. If the records
/// decide a field's classes, opening reads and parses the files a second time. Values are parsed when they are read.
/// The files must not change while the source is open.
class PENSTOCK_API JsonLinesSource {
 public:
  /// Opens the files.
  /// @throws Error(not_found | io).
  /// @throws Error(limit_exceeded) if a line is longer than `max_record_bytes`, or a member has more different strings
  /// than `max_classes`. The error names the file and the line.
  /// @throws Error(limit_exceeded) without `fields`, if the first 100 records have more than 10,000 members.
  /// @throws Error(unsupported) if a file is UTF-16.
  /// @throws Error(corrupt) without `fields`, if none of the first 100 records can be read. The error names the first.
  /// @throws Error(invalid_argument) if
  /// - two fields have the same name, or a field's path leads through another field;
  /// - a field's dtype is f16 or bf16, its shape has more than 3 dimensions or a dimension of 0, or `missing_value`
  ///   can't be its value;
  /// - two classes of a field have the same name, or a field that is not of classes lists some;
  /// - there is no record, or none of the first has a member that can be a field, and `fields` is not set;
  /// - a member would say its classes, and has no string, or has more than 100 that all differ.
  explicit JsonLinesSource(JsonLines options);

  /// Number of records in all files together.
  std::uint64_t size() const noexcept;
  /// One field for each of `fields()`.
  Schema schema() const;
  /// The fields, as set or found, with their classes.
  const std::vector<JsonField>& fields() const noexcept;
  /// Opens a reader for one thread. @throws Error(io).
  std::unique_ptr<JsonLinesReader> open_reader() const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "json"; }
  /// The path as it was given.
  std::string file() const;
  /// The value of the member `JsonLines::key`. If that is empty, the key is, for instance, "train.jsonl:00000017". It
  /// has the file's name (or its path, if two files have the same name) and the line's number, from 1. The number has 8
  /// digits, or more if the file's last line needs more.
  /// @throws Error(not_found) past the end; Error(corrupt) if the record has no such member, or its value is not a
  /// string or a whole number; Error(io).
  std::string key(std::uint64_t index) const;
  /// Without `JsonLines::fields`, lists members of the first 100 records that are not fields, and why.
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
  friend class JsonLinesReader;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
