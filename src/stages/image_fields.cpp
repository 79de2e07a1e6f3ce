// SPDX-License-Identifier: Apache-2.0
#include <penstock/stages/image_fields.hpp>

#include <penstock/error.hpp>

namespace penstock {

ImageFields::ImageFields(const std::vector<Item>& items) {
  if (items.empty()) throw Error(Errc::invalid_argument, "an image stage needs at least one field");
  if (const ImageField& first = items.front().field_; first.kind != ImageField::Kind::image)
    throw Error(Errc::invalid_argument, "field \"" + first.name +
                                            "\" follows an image, so an image must be before it: {\"image\", "
                                            "boxes(\"boxes\")}, for instance");
  for (const Item& item : items) {
    for (const ImageField& other : fields_)
      if (other.name == item.field_.name)
        throw Error(Errc::invalid_argument, "an image stage names field \"" + other.name + "\" twice");
    fields_.push_back(item.field_);
    if (!item.says_filter_ && fields_.size() > 1) fields_.back().filter = Filter::nearest;
  }
}

std::string ImageFields::names() const {
  std::string names;
  for (const ImageField& field : fields_) {
    if (!names.empty()) names += ", ";
    for (const char c : field.name) names += c == ',' ? std::string("\\,") : std::string(1, c);
  }
  return names;
}

}  // namespace penstock
