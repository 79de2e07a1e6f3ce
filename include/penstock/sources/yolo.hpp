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

/// Pictures with boxes in the format of YOLO: a text file for each picture. `from(Yolo{.images = "images/train",
/// .labels = "labels/train"})` opens them.
///
/// Each picture directly in the folder `images` is a record, in the order of the names' bytes. The objects of the
/// picture `NAME.jpg` are in the file `NAME.txt` in the folder `labels`, one per line. A line has the number of the
/// class, then the centre, width and height of the box. These four are shares of the picture's width and height. N is
/// the number of objects:
///
/// - `image`, u8[?]: the bytes of the picture's file.
/// - `boxes`, f32[?, 5]: [N, 5] of the shares cx, cy, w, h, and the visible share, which is 1.
/// - `classes`, i64[?]: [N], the number of each object's class.
///
/// A picture without a file of labels has no objects (N = 0). Objects whose box has no width or no height are left out.
struct Yolo {
  using Source = class YoloSource;  ///< the source that `from` opens
  // What most callers set.
  /// The folder of the pictures. Files that do not end like a picture (.jpg, .png) are skipped.
  std::string images;
  /// The folder of the files of labels.
  std::string labels;
  // What changes results.
  /// The names of the classes, number 0 first. Default (empty): those in `names`.
  ClassNames classes = {};
  /// A file with the name of one class per line, number 0 first, like `classes.txt` or `coco.names`. Default (empty):
  /// no names. Then the number of a class may be any from 0 to 2^31 - 1.
  std::string names = {};
};

/// Pictures with boxes in the format of YOLO. Immutable; copies share the list. Any thread may use it.
class PENSTOCK_API YoloSource {
 public:
  /// Lists both folders, and reads `names`.
  /// @throws Error(not_found | io).
  /// @throws Error(invalid_argument) if two pictures differ only in their ending, if no picture has a file of labels,
  /// or if both `classes` and `names` are set.
  /// @throws Error(unsupported) if `names` is a file of YAML.
  explicit YoloSource(Yolo options);

  /// Number of records.
  std::uint64_t size() const noexcept;
  /// {image: u8[?], boxes: f32[?, 5], classes: i64[?]}.
  Schema schema() const;
  /// Reads a record.
  /// @throws Error(corrupt) with the file, the line and the offset, if
  /// - a line does not have 5 numbers, or the class is not a whole number from 0 on, or has no name;
  /// - a share is below -0.01 or above 1.01 (some programs round above 1), or a width or height is negative.
  /// @throws Error(unsupported) if a line has more than 5 numbers, like a polygon.
  /// @throws Error(limit_exceeded) if the file of labels has more than 64 MiB.
  /// @throws Error(not_found) past the end, and if the picture is missing; Error(io).
  void read(std::uint64_t index, SampleBuilder& out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "yolo"; }
  /// The folder of the pictures.
  std::string file() const;
  /// The file of the picture. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The name of the picture without its ending: "0001" for `0001.jpg`. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Says how many pictures have no file of labels, how many files of labels have no picture, and which other files the
  /// folders have.
  std::vector<std::string> notes() const;
  /// Hash of the names, of the content of the files of labels, of the classes, and of the sizes of the pictures' files.
  /// The first call reads all files of labels.
  /// @throws Error(io).
  std::uint64_t identity() const;
  /// Hash of the sizes and times of all files. Looks at every file.
  std::uint64_t revision() const;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
