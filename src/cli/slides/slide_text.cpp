// SPDX-License-Identifier: Apache-2.0
#include "slides/slide_text.hpp"

#include <fmt/format.h>

#include <penstock/error.hpp>

#include "console/tool_words.hpp"

namespace penstock::cli {

namespace {

Json known(double value) { return value == 0 ? Json(nullptr) : Json(value); }

std::string resolution_text(const SlideInfo& slide) {
  std::string text;
  if (slide.mpp_x != 0 && slide.mpp_x == slide.mpp_y) text = fmt::format("; {:.4g} micrometres a pixel", slide.mpp_x);
  if (slide.mpp_x != slide.mpp_y) text = fmt::format("; {:.4g} x {:.4g} micrometres a pixel", slide.mpp_x, slide.mpp_y);
  if (slide.magnification != 0) text += fmt::format("; {:.3g}x", slide.magnification);
  return text.empty() ? "; it doesn't say how large a pixel is" : text;
}

}  // namespace

std::string image_text(const SlideInfo& slide) {
  std::string text = fmt::format("{}x{} pixels", slide.image_width, slide.image_height);
  if (slide.resampled)
    return text + fmt::format(", made of the {}x{} of level {}", slide.levels[slide.level].width,
                              slide.levels[slide.level].height, slide.level);
  return slide.level == 0 ? text : text + fmt::format(" of level {}", slide.level);
}

std::string failure_text(const SlideInfo& slide) {
  const std::string& file = slide.failure->file();
  return printable(in_tool_words(slide.failure->cause(), "slide")) +
         (file == slide.path ? "" : fmt::format(" ({})", printable(file)));
}

std::string slide_text(const SlideInfo& slide) {
  if (slide.failure) return fmt::format("slide {}: {}", printable(slide.name), failure_text(slide));
  std::string text = fmt::format("slide {}: {}x{} pixels", printable(slide.name), slide.width, slide.height);
  if (slide.tile_width != 0) text += fmt::format(", tiles of {}x{}", slide.tile_width, slide.tile_height);
  text += slide.codec == SlideCodec::openslide
              ? ", through OpenSlide " + printable(slide.openslide) + ", as " + printable(slide.why_openslide)
              : fmt::format(", {}", to_string(slide.codec));
  if (slide.levels.size() > 1) {
    text += "; levels ";
    for (const SlideLevel& level : slide.levels)
      text += fmt::format("{}{}x{}", &level == slide.levels.data() ? "" : ", ", level.width, level.height);
  }
  if (!slide.missing_levels.empty()) text += "; some levels can't be read: " + printable(slide.missing_levels);
  if (!slide.unread_images.empty()) text += "; not read: " + slide.unread_images;
  return text + resolution_text(slide);
}

Json slide_json(const SlideInfo& slide) {
  Json json{{"slide", slide.name}, {"file", slide.path}};
  if (slide.failure) {
    json["failure"] = slide.failure->cause();
    json["failure_file"] = slide.failure->file();
    return json;
  }
  Json levels = Json::array();
  for (const SlideLevel& level : slide.levels)
    levels.push_back({{"width", level.width},
                      {"height", level.height},
                      {"tile_width", level.tile_width},
                      {"tile_height", level.tile_height}});
  json["width"] = slide.width;
  json["height"] = slide.height;
  json["levels"] = levels;
  json["missing_levels"] = slide.missing_levels.empty() ? Json(nullptr) : Json(slide.missing_levels);
  json["unread_images"] = slide.unread_images.empty() ? Json(nullptr) : Json(slide.unread_images);
  json["codec"] = to_string(slide.codec);
  json["openslide"] = slide.openslide.empty() ? Json(nullptr) : Json(slide.openslide);
  json["why_openslide"] = slide.why_openslide.empty() ? Json(nullptr) : Json(slide.why_openslide);
  json["mpp_x"] = known(slide.mpp_x);
  json["mpp_y"] = known(slide.mpp_y);
  json["magnification"] = known(slide.magnification);
  json["level"] = slide.level;
  json["resampled"] = slide.resampled;
  json["image_width"] = slide.image_width;
  json["image_height"] = slide.image_height;
  json["places"] = slide.places;
  json["tiles"] = slide.records;
  return json;
}

}  // namespace penstock::cli
