// SPDX-License-Identifier: Apache-2.0
// Where the channels of an image are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/shape.hpp>

namespace penstock::image {

// Returns the layout of images of this shape. @throws Error(schema_mismatch) if the shape is not an image's, or does
// not show the layout and `said` doesn't either.
inline Layout layout_of(const Shape& shape, const std::optional<Layout>& said) {
  if (shape.rank() != 3)
    throw Error(Errc::schema_mismatch, "images are [H, W, C] or [C, H, W]; these are " + shape.to_string());
  if (said) return *said;
  const auto few = [](std::int64_t n) { return n >= 1 && n <= 4; };
  if (!shape.fixed() || few(shape[0]) == few(shape[2]))
    throw Error(Errc::schema_mismatch, "the shape " + shape.to_string() +
                                           " does not show whether channels are first or last; say it with `.layout`");
  return few(shape[2]) ? Layout::hwc : Layout::chw;
}

struct ImageExtent {
  std::int64_t height, width, channels;
};
inline ImageExtent extent_of(const Shape& shape, Layout layout) {
  return layout == Layout::hwc ? ImageExtent{shape[0], shape[1], shape[2]} : ImageExtent{shape[1], shape[2], shape[0]};
}

inline std::string text(const std::optional<Layout>& layout) {
  return !layout ? "" : *layout == Layout::hwc ? ", hwc" : ", chw";
}

}  // namespace penstock::image
