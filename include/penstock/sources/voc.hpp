// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// Pictures with boxes in the format of Pascal VOC: a file of XML for each picture. `from(Voc{.root = "VOC2012"})`
/// opens them.
///
/// Each file `Annotations/NAME.xml` below `root` is a record, in the order of the names' bytes. Its picture is
/// `JPEGImages/NAME.jpg`, or has another ending of a picture. N is the number of elements `object`:
///
/// - `image`, u8[?]: the bytes of the picture's file.
/// - `boxes`, f32[?, 5]: [N, 5] of x0, y0, x1, y1 and the visible share, which is 1.
/// - `classes`, i64[?]: [N], the number of each object's class.
/// - `difficult`, u8[?]: [N], 1 if the object is marked as difficult.
///
/// Boxes are in pixels, and their numbers are edges: the box of the whole picture is 0, 0, W, H. The files count pixels
/// from 1 and include both ends, so x0 = xmin - 1, y0 = ymin - 1, x1 = xmax, y1 = ymax. Objects whose box has no width
/// or no height are left out. Parts of objects, and other elements, are skipped.
struct Voc {
  using Source = class VocSource;  ///< the source that `from` opens
  // What most callers set.
  /// The folder with the folders `Annotations` and `JPEGImages`.
  std::string root;
  /// A file with the name of one record per line, like `VOC2012/ImageSets/Main/train.txt`. Only these are records, in
  /// that order. A second word in a line, which lists of one class have, is ignored. Default (empty): all records.
  std::string list = {};
  // What changes results.
  /// The names of the classes, number 0 first. An object of another class makes its record a bad sample. Default
  /// (empty): the names in the records' files, in the order of their bytes.
  ClassNames classes = {};
};

/// Pictures with boxes in the format of Pascal VOC. Immutable; copies share the list. Any thread may use it.
///
/// Without `Voc::classes`, opening parses the files of all records. Files are parsed again when they are read.
class PENSTOCK_API VocSource {
 public:
  /// Lists the records.
  /// @throws Error(not_found | io), also if a record has no picture or no file of XML.
  /// @throws Error(corrupt) without `classes`, if a record's file is damaged; see `read`.
  /// @throws Error(invalid_argument) if
  /// - two pictures differ only in their ending;
  /// - `list` names a record twice, or a record that is not a file in `Annotations`;
  /// - `classes` has a name twice.
  explicit VocSource(Voc options);

  /// Number of records.
  std::uint64_t size() const noexcept;
  /// {image: u8[?], boxes: f32[?, 5], classes: i64[?], difficult: u8[?]}.
  Schema schema() const;
  /// Reads a record.
  /// @throws Error(corrupt) with the file, the object and the offset, if
  /// - the file is not XML with the element `annotation` at its top;
  /// - an object has no name or box, or its class is not in the list of classes;
  /// - a number of a box is not a finite number of f32, or a box has a negative width or height;
  /// - `difficult` is not 0 or 1.
  /// @throws Error(limit_exceeded) if the file has more than 64 MiB.
  /// @throws Error(not_found) past the end, and if a file is missing; Error(io).
  void read(std::uint64_t index, SampleBuilder& out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "voc"; }
  /// The folder.
  std::string file() const;
  /// The file of the picture. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The name of the record, "2007_000027" for `Annotations/2007_000027.xml`. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Says which files in the two folders have other endings.
  std::vector<std::string> notes() const;
  /// Hash of the names, of the content of the files of XML, of the classes, and of the sizes of the pictures' files.
  /// The first call reads all files of XML.
  /// @throws Error(io).
  std::uint64_t identity() const;
  /// Hash of the sizes and times of all files. Looks at every file.
  std::uint64_t revision() const;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
