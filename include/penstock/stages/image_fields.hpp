#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_op.hpp>

namespace penstock {

/// One field that an image stage acts on, and how it is resampled there.
struct ImageField {
  /// Name of the field in the schema.
  std::string name;
  /// How it is resampled.
  Filter filter = Filter::linear;
};

/// A field whose values are labels: resampled by nearest, so that no value appears that was not there before.
inline ImageField mask(std::string name) { return {std::move(name), Filter::nearest}; }

/// The fields of one image stage, for which it draws once:
///
///     random_flip("image")
///     random_resized_crop({"image", "mask"}, {224, 224})
///     resize({"left", {"right", Filter::linear}}, {224, 224})
///     resize(mask("labels"), {224, 224})
///
/// A name alone is an image (`Filter::linear`) where it stands first, and a mask (`Filter::nearest`) after the first.
/// Parameters are drawn from the shape of the first field, whose result is that of the stage on it alone; the others
/// follow, each with channels of its own. In a sample whose fields differ in height or width at this stage, that is an
/// Error(unsupported) which names both shapes.
class PENSTOCK_API ImageFields {
 public:
  /// One field, an image.
  ImageFields(const char* name) : ImageFields(std::string(name)) {}
  /// One field, an image.
  ImageFields(std::string name) { fields_.push_back({std::move(name), Filter::linear}); }
  /// One field that says its filter.
  ImageFields(ImageField field) { fields_.push_back(std::move(field)); }

  /// A name, or a field that says its filter.
  class Item {
   public:
    /// An image where it stands first, else a mask.
    Item(const char* name) : field_{name, Filter::linear} {}
    /// An image where it stands first, else a mask.
    Item(std::string name) : field_{std::move(name), Filter::linear} {}
    /// A field that says its filter.
    Item(ImageField field) : field_(std::move(field)), says_filter_(true) {}
    /// A field that says its filter.
    Item(std::string name, Filter filter) : field_{std::move(name), filter}, says_filter_(true) {}

   private:
    friend class ImageFields;
    ImageField field_;
    bool says_filter_ = false;
  };
  /// @throws Error(invalid_argument) for no field, or one that is named twice.
  ImageFields(std::initializer_list<Item> items) : ImageFields(std::vector<Item>(items)) {}
  explicit ImageFields(const std::vector<Item>& items);  ///< fields by a vector. @throws as for a list

  /// How many fields there are.
  std::size_t size() const noexcept { return fields_.size(); }
  /// Field `i`, which must be below `size()`.
  const ImageField& operator[](std::size_t i) const noexcept { return fields_[i]; }
  /// The first field.
  auto begin() const noexcept { return fields_.begin(); }
  /// Behind the last field.
  auto end() const noexcept { return fields_.end(); }
  /// "image, mask"
  std::string names() const;

 private:
  std::vector<ImageField> fields_;
};

}  // namespace penstock
