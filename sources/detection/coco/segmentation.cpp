// SPDX-License-Identifier: Apache-2.0
#include "coco/segmentation.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/error.hpp>

#include "errors.hpp"

namespace penstock::detection {

namespace json = common::json;

void SegmentationPainter::draw(CocoEntry& entry, const Mask& mask) {
  const json::Kind kind = entry.cursor().peek();
  if (kind == json::Kind::array) return draw_polygons(entry, mask);
  if (kind == json::Kind::object) return draw_runs(entry, mask);
  entry.refuse("is " + std::string(json::to_words(kind)) + ", not polygons or run lengths", entry.cursor().offset());
}

void SegmentationPainter::draw_polygons(CocoEntry& entry, const Mask& mask) {
  constexpr std::size_t numbers_of_box = 4;
  const std::uint64_t offset = entry.cursor().offset();
  bool is_first = true;
  polygons_.begin(mask);
  entry.each_element([&] {
    const std::uint64_t begin = entry.require(json::Kind::array);
    points_.clear();
    entry.each_element([&] {
      entry.cursor().peek();
      const std::uint64_t at = entry.cursor().offset();
      points_.push_back(entry.number());
      if (std::abs(points_.back()) > PolygonPainter::largest)
        entry.refuse("the coordinate " + std::to_string(points_.back()) + " is far outside any picture", at);
    });
    if (points_.size() % 2 != 0)
      entry.refuse("a polygon has " + std::to_string(points_.size()) + " numbers, and points have two", begin);
    if (is_first && points_.size() == numbers_of_box)
      entry.refuse("the first polygon has 4 numbers, which pycocotools takes for a box; write a polygon of 8", begin,
                   Errc::unsupported);
    if (points_.size() < numbers_of_box) entry.refuse("a polygon has fewer than 2 points", begin);
    is_first = false;
    try {
      polygons_.draw(points_);
    } catch (const Error& error) {
      entry.refuse(error.cause(), begin, error.code());
    }
  });
  if (is_first) entry.refuse("has no polygon, so there is no mask to draw", offset);
}

void SegmentationPainter::draw_runs(CocoEntry& entry, const Mask& mask) {
  const std::uint64_t offset = entry.cursor().offset();
  std::array<std::int64_t, 2> size{};
  std::size_t sizes = 0;
  std::optional<json::Cursor> counts;
  entry.cursor().each_member([&](const json::Text& name) {
    if (name.raw == "counts") {
      if (counts) entry.refuse("\"counts\" comes twice", name.offset);
      entry.cursor().peek();
      counts = entry.cursor();
      entry.cursor().skip();
    } else if (name.raw == "size") {
      if (sizes != 0) entry.refuse("\"size\" comes twice", name.offset);
      entry.each_element([&] {
        const std::int64_t number = entry.whole_number();
        if (sizes < size.size()) size[sizes] = number;
        ++sizes;
      });
    } else {
      entry.cursor().skip();
    }
  });
  if (sizes != size.size()) entry.refuse("there is no \"size\" of two numbers", offset);
  if (size[0] != mask.height || size[1] != mask.width)
    entry.refuse("its size is " + std::to_string(size[0]) + " x " + std::to_string(size[1]) +
                     " (height x width), and that of the image is " + std::to_string(mask.height) + " x " +
                     std::to_string(mask.width),
                 offset);
  if (!counts) entry.refuse("there is no \"counts\"", offset);

  std::swap(entry.cursor(), *counts);
  const std::uint64_t begin = entry.cursor().offset();
  runs_.begin(mask.height * mask.width);
  try {
    if (entry.cursor().peek() == json::Kind::text)
      runs_.add_packed(entry.text());
    else
      entry.each_element([&] { runs_.add(entry.whole_number()); });
    runs_.draw(mask);
  } catch (const Error& error) {
    if (error.offset()) throw;
    entry.refuse(error.cause(), begin, error.code());
  }
  std::swap(entry.cursor(), *counts);
}

}  // namespace penstock::detection
