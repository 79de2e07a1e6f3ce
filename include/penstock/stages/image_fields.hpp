// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_op.hpp>

namespace penstock {

/// One field that an image stage changes, and how the stage resamples it.
struct ImageField {
  /// Name of the field in the schema.
  std::string name;
  /// How the stage resamples the field.
  Filter filter = Filter::linear;
};

/// Returns a field whose values are labels. An image stage resamples it with `Filter::nearest`, so no new value
/// appears.
inline ImageField mask(std::string name) { return {std::move(name), Filter::nearest}; }

/// The fields of one image stage, which draws once for all of them:
///
///     random_flip("image")
///     random_resized_crop({"image", "mask"}, {224, 224})
///     resize({"left", {"right", Filter::linear}}, {224, 224})
///     resize(mask("labels"), {224, 224})
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
  /// One field with its own filter.
  ImageFields(ImageField field) { fields_.push_back(std::move(field)); }

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
  /// Several fields. @throws Error(invalid_argument) if there is no field, or one is named twice.
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
