// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_op.hpp>

namespace penstock {

/// Two key points of an instance that are each other's mirror image: the left and the right hand. Numbers of rows.
struct MirroredPair {
  std::uint32_t first = 0, second = 0;  ///< row numbers
};

/// One field that an image stage changes, and what the field is.
struct ImageField {
  /// What a field is. All kinds but `image` follow the image that is the first field.
  enum class Kind : std::uint8_t {
    image,           ///< an image, or labels per pixel
    boxes,           ///< see `boxes`
    points,          ///< see `points`
    instance_masks,  ///< see `instance_masks`
    crop_box,        ///< see `crop_box`
  };
  /// Name of the field in the schema.
  std::string name;
  /// How the stage resamples the field.
  Filter filter = Filter::linear;
  /// What the field is.
  Kind kind = Kind::image;
  /// `points`: pairs of points that a mirrored image exchanges.
  std::vector<MirroredPair> mirrored = {};
};

/// Returns a field whose values are labels. An image stage resamples it with `Filter::nearest`, so no new value
/// appears.
inline ImageField mask(std::string name) { return {std::move(name), Filter::nearest}; }

// Boxes, points and instance masks follow the image that is the first field of a stage. Coordinates are in pixels of
// the image, x to the right and y down. (0, 0) is the top left corner of the top left pixel, whose centre is (0.5,
// 0.5). They are binary32; each stage computes in binary64 and rounds once. So a stage gives the same bits whether it
// is folded with others or not. The image must be a field of the same stage, before `batch`.

/// Returns a field of boxes, f32[..., 4] or f32[..., 5]: x0, y0, x1, y1, and the visible share. An image stage moves
/// the boxes with the image, and clips them to the part of the result that shows the image. It multiplies the visible
/// share by the part of the box's area that is left. Begin with 1. If a corner moves across its opposite corner, the
/// stage swaps them. A box without an area keeps its share if it is inside, and has share 0 otherwise.
inline ImageField boxes(std::string name) { return {std::move(name), Filter::linear, ImageField::Kind::boxes}; }

/// Returns a field of points, f32[..., 2] or f32[..., 3]: x, y, and whether the point is visible. An image stage moves
/// the points with the image. If a point is outside of the part of the result that shows the image, its third number
/// becomes 0. On the edge, it is inside. Other third numbers stay as they are (2 for a visible key point of COCO).
/// Pixel indices must become positions before: add 0.5.
///
/// `mirrored`: pairs of key points in a field [..., K, 2] or [..., K, 3]. If a stage mirrors the image, it exchanges
/// the rows of each pair, so that a left hand stays a left hand. Two flips, or a turn, mirror nothing.
inline ImageField points(std::string name, std::vector<MirroredPair> mirrored = {}) {
  return {std::move(name), Filter::linear, ImageField::Kind::points, std::move(mirrored)};
}

/// Returns a field of masks, u8[N, H, W] or u16[N, H, W]: one image of labels for each of N instances. H and W are
/// those of the image. An image stage does to each mask what it does to a field `mask(...)`.
inline ImageField instance_masks(std::string name) {
  return {std::move(name), Filter::nearest, ImageField::Kind::instance_masks};
}

/// Returns a new field, f32[4], that the stage adds: x0, y0, x1, y1 of the part of the image before the stage that its
/// result shows. So it is the crop that the stage drew.
inline ImageField crop_box(std::string name) { return {std::move(name), Filter::linear, ImageField::Kind::crop_box}; }

/// The fields of one image stage, which draws once for all of them:
///
///     random_flip("image")
///     random_resized_crop({"image", "mask"}, {224, 224})
///     resize({"left", {"right", Filter::linear}}, {224, 224})
///     resize(mask("labels"), {224, 224})
///     random_resized_crop({"image", boxes("boxes"), crop_box("crop")}, {640, 640})
///
/// A field that is given without a filter is an image (`Filter::linear`) if it is the first field, else a mask
/// (`Filter::nearest`). The stage draws its parameters from the shape of the first field, so the result of the first
/// field does not depend on the others. All fields get the same parameters; their numbers of channels may differ. If
/// the fields of a sample differ in height or width at this stage, the sample fails with Error(unsupported), which
/// names both shapes.
class PENSTOCK_API ImageFields {
 public:
  /// One field, an image.
  ImageFields(const char* name) : ImageFields(std::string(name)) {}
  /// One field, an image.
  ImageFields(std::string name) { fields_.push_back({std::move(name), Filter::linear}); }
  /// One field with its own filter. @throws like for a list.
  ImageFields(ImageField field) : ImageFields(std::vector<Item>{Item(std::move(field))}) {}

  /// One field of a list: a name, or a field with its own filter.
  class Item {
   public:
    /// An image if it is the first field, else a mask.
    Item(const char* name) : field_{name, Filter::linear} {}
    /// An image if it is the first field, else a mask.
    Item(std::string name) : field_{std::move(name), Filter::linear} {}
    /// A field with its own filter.
    Item(ImageField field) : field_(std::move(field)), says_filter_(true) {}
    /// A field with its own filter.
    Item(std::string name, Filter filter) : field_{std::move(name), filter}, says_filter_(true) {}

   private:
    friend class ImageFields;
    ImageField field_;
    bool says_filter_ = false;
  };
  /// Several fields. @throws Error(invalid_argument) if there is no field, one is named twice, or boxes, points or
  /// instance masks are the first field.
  ImageFields(std::initializer_list<Item> items) : ImageFields(std::vector<Item>(items)) {}
  explicit ImageFields(const std::vector<Item>& items);  ///< several fields, from a vector. @throws like for a list

  /// Number of fields.
  std::size_t size() const noexcept { return fields_.size(); }
  /// Field `i`, which must be below `size()`.
  const ImageField& operator[](std::size_t i) const noexcept { return fields_[i]; }
  /// The first field.
  auto begin() const noexcept { return fields_.begin(); }
  /// After the last field.
  auto end() const noexcept { return fields_.end(); }
  /// Returns the names, for instance "image, mask".
  std::string names() const;

 private:
  std::vector<ImageField> fields_;
};

}  // namespace penstock
