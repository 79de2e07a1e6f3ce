// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// What happens to annotations of crowds, whose `iscrowd` is 1.
enum class CocoCrowd : std::uint8_t {
  leave_out,  ///< they are left out
  keep,       ///< they are objects like others, and the field `crowd` marks them
};

/// Pictures with boxes in the format of COCO: one file of JSON with the lists `images`, `annotations` and `categories`,
/// and a folder of pictures. `from(Coco{.annotations = "instances_train2017.json", .images = "train2017"})` opens them.
///
/// Each entry of `images` is a record, in the order of the file. N is the number of the record's objects, which are its
/// annotations in the order of the file:
///
/// - `image`, u8[?]: the bytes of the picture's file.
/// - `boxes`, f32[?, 5]: [N, 5] of x0, y0, x1, y1 and the visible share, which is 1.
/// - `classes`, i64[?]: [N], the number of each object's class.
/// - `crowd`, u8[?]: [N], 1 for a crowd. Only with `CocoCrowd::keep`.
/// - `image_id`, i64[]: the `id` of the entry of `images`.
/// - `masks`, u8[?, ?, ?]: [N, H, W] of 0 and 1. Only with `masks`.
/// - `keypoints`, f32[?, K, 3]: [N, K, 3] of x, y and visibility. Only with `keypoints`.
///
/// Boxes are in pixels, and their numbers are edges: the box of the whole picture is 0, 0, W, H. The file has x, y,
/// width and height. The sums x + width and y + height are rounded once, to f32. A box may reach beyond its picture.
///
/// Classes are numbered from 0 in the order of the `id` in `categories`. `Field::classes` has their names.
///
/// Annotations are left out if their box has a width or height of 0, as f32. COCO's own files have a few of them.
/// `notes` counts them. A negative width or height makes the record a bad sample.
///
/// The file of annotations may have other members. They are skipped. Nothing in it may be nested more deeply than 512
/// levels.
struct Coco {
  using Source = class CocoSource;  ///< the source that `from` opens
  // What most callers set.
  /// The file of JSON.
  std::string annotations;
  /// The folder of the pictures. `file_name` in `images` is a path below it.
  std::string images;
  /// Adds the field `masks`, drawn as pycocotools draws them, to the same bits. A segmentation is a list of polygons,
  /// or run lengths, as a list or as a string. Needs `width` and `height` in all `images`. Without `masks`,
  /// segmentations may be anything. Default: false.
  bool masks = false;
  /// Adds the field `keypoints` with the numbers of the file. In COCO's own files, x and y are the whole numbers of
  /// pixels, so the middle of a pixel is at x + 0.5, y + 0.5. As in torchvision, 0.5 is not added. K is the length of
  /// the list `keypoints` in `categories`. An object without keypoints has zeros, which mean "not labelled".
  /// Default: false.
  bool keypoints = false;
  // What changes results.
  /// What happens to annotations of crowds. Default: they are left out.
  CocoCrowd crowd = CocoCrowd::leave_out;
  /// Whether records without objects (N = 0) are kept. Default: true.
  bool without_boxes = true;
  // Limits.
  /// A record whose masks have more bytes than this (N * H * W) is a bad sample. Default: 1 GiB.
  std::size_t max_mask_bytes = std::size_t{1} << 30;
};

/// Reads records of one CocoSource. Only one thread may use it at a time. A reader may outlive its source.
class PENSTOCK_API CocoReader {
 public:
  ~CocoReader();
  /// Reads a record: the picture's file, and the record's objects.
  /// @throws Error(corrupt) with the file, the annotation, the offset and the member, if
  /// - a box has a negative width or height;
  /// - a segmentation or keypoints are missing, or do not have the form that COCO describes;
  /// - run lengths do not add up to H * W, or `size` differs from H, W.
  /// @throws Error(unsupported) if the first polygon of a segmentation has 4 numbers, which pycocotools takes for a
  /// box.
  /// @throws Error(limit_exceeded) if masks have more than `Coco::max_mask_bytes` bytes.
  /// @throws Error(limit_exceeded) if the polygons of a mask need too much work. Counted are the pixels of their boxes,
  /// and the columns that their edges cross. The limit is 64 times the picture's pixels and the polygons' coordinates.
  /// @throws Error(not_found) past the end, and if the picture is missing; Error(io).
  void read(std::uint64_t index, SampleBuilder& out);

 private:
  friend class CocoSource;
  class Impl;
  explicit CocoReader(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Pictures with boxes, and possibly masks and keypoints. Immutable; copies share the tables. Any thread may use it.
///
/// Opening reads the file of annotations once, and keeps about 40 bytes of memory per annotation, and less than 60
/// while it reads. Segmentations and keypoints are parsed when their record is read, from a map of the file, which must
/// not change or become shorter while the source is open.
class PENSTOCK_API CocoSource {
 public:
  /// Opens the file of annotations. Does not look at the pictures.
  /// @throws Error(not_found | io).
  /// @throws Error(corrupt), with the entry, its `id`, the member and the offset, if
  /// - the file is not one JSON object with `images`, `annotations` and `categories`;
  /// - a member is missing, comes twice, or is not of its kind;
  /// - a number is not finite as f32, or an `id` is not a whole number of 64 bits;
  /// - two entries of a list have the same `id`, or an annotation names an image or category that is not there;
  /// - a `file_name` is not a path below the folder.
  /// @throws Error(unsupported) if the `id` of a category has more than 32 bits, or two categories have different
  /// numbers of keypoints.
  /// @throws Error(limit_exceeded) if a value is nested more deeply than 512 levels.
  /// @throws Error(invalid_argument) if `masks` is set and an image has no size, or if `keypoints` is set and no
  /// category lists keypoints.
  explicit CocoSource(Coco options);

  /// Number of records.
  std::uint64_t size() const noexcept;
  /// The fields, as `Coco` describes them.
  Schema schema() const;
  /// Opens a reader for one thread.
  std::unique_ptr<CocoReader> open_reader() const;

  /// The `id` in `categories` of each class, class 0 first. COCO's result files name classes by these.
  std::vector<std::int64_t> category_ids() const;
  /// The source's name in errors and `plan()`.
  std::string name() const { return "coco"; }
  /// The file of annotations.
  std::string file() const;
  /// The file of the picture. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The `file_name` of the picture. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Says how many annotations and images are left out, and why.
  std::vector<std::string> notes() const;
  /// Hash of the file of annotations, of the options that change results, and of the sizes of the pictures' files. The
  /// first call looks at every file. A file that does not exist counts with a size that no file has.
  std::uint64_t identity() const;
  /// Hash of the sizes and times of the pictures' files, and of the `file_revision` of the file of annotations when it
  /// was opened. Looks at every file.
  std::uint64_t revision() const;

 private:
  class Impl;
  friend class CocoReader;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
