// SPDX-License-Identifier: Apache-2.0
// The words of a caption.
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

#include "picture/caption.hpp"

namespace penstock::slide {

namespace {

std::string with_separators(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}
std::string with_separators(std::int64_t number) { return with_separators(static_cast<std::uint64_t>(number)); }

// Returns a number with at most `digits` significant digits.
std::string in_digits(double value, int digits) {
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
  return {text.data(), written.ptr};
}
// Sides are rounded to whole pixels, so more digits of a pixel's size would mean nothing.
std::string mpp_number(double mpp) { return in_digits(mpp, 3); }
std::string four_digits(double value) { return in_digits(value, 4); }

std::string size_text(std::int64_t width, std::int64_t height) {
  return with_separators(width) + " x " + with_separators(height);
}

std::string counted_text(std::uint64_t number, const std::string& noun) {
  return with_separators(number) + " " + noun + (number == 1 ? "" : "s");
}

// Returns "0.5 um a pixel" for an image that shows the whole slide in `width` x `height` pixels; empty if the size of a
// pixel is unknown.
std::string mpp_text(const SlideInfo& slide, std::int64_t width, std::int64_t height) {
  if (slide.mpp_x == 0) return "";
  const double x = slide.mpp_x * static_cast<double>(slide.width) / static_cast<double>(width);
  const double y = slide.mpp_y * static_cast<double>(slide.height) / static_cast<double>(height);
  const std::string across = mpp_number(x), down = mpp_number(y);
  // Sides are rounded to whole pixels, so x and y are hardly ever equal.
  constexpr double same = 0.005;
  if (x / y > 1 - same && x / y < 1 + same) return across + " um a pixel";
  return across + " x " + down + " um a pixel";
}

std::string slide_line(const SlideInfo& slide) {
  const std::string mpp = mpp_text(slide, slide.width, slide.height);
  std::string line = "Slide: " + size_text(slide.width, slide.height) + " pixels, " +
                     (mpp.empty() ? "how large one is is not known" : mpp);
  if (slide.magnification != 0) line += ", " + four_digits(slide.magnification) + "x";
  line += slide.levels.size() == 1 ? ", one level" : ", " + counted_text(slide.levels.size(), "level");
  return line;
}

std::string way_line(const SlideInfo& slide) {
  std::string line = "Read: ";
  if (!slide.why_openslide.empty())
    return line + "through OpenSlide " + slide.openslide + ", as " + slide.why_openslide;
  return line + to_string(slide.codec) + " tiles of " + size_text(slide.tile_width, slide.tile_height) + " pixels";
}

std::string pixels_line(const SlideInfo& slide) {
  std::string line = "Records: ";
  const std::string level = "level " + std::to_string(slide.level);
  line += slide.resampled ? "made smaller, from " + level + " to " : level + ", ";
  line += size_text(slide.image_width, slide.image_height) + " pixels";
  if (const std::string mpp = mpp_text(slide, slide.image_width, slide.image_height); !mpp.empty()) line += ", " + mpp;
  return line;
}

std::string grid_line(const SlideInfo& slide, const Slides& options, bool listed) {
  std::string line = "Places: " + size_text(options.size, options.size) + " pixels";
  if (slide.mpp_x != 0) {
    const double mpp = slide.mpp_x * static_cast<double>(slide.width) / static_cast<double>(slide.image_width);
    line += " (" + four_digits(mpp * options.size) + " um)";
  }
  if (listed)
    line += ", as they are listed";
  else if (options.stride == options.size)
    line += ", side by side";
  else
    line += ", one every " + with_separators(std::int64_t{options.stride});
  if (options.left != 0 || options.top != 0)
    line += ", from pixel " + with_separators(options.left) + ", " + with_separators(options.top) + " of level 0 on";
  constexpr std::array edges{"left out", "filled up", "cut off"};  // words in the order of SlideEdges
  return line + "; those that reach beyond the slide are " + edges[static_cast<std::size_t>(options.edges)];
}

std::string tissue_line(const Slides& options, const std::optional<MaskFacts>& mask) {
  if (!mask) return "Tissue: not asked for, so each place is a record";
  const SlideTissue& tissue = options.tissue;
  const bool grey = tissue.by == SlideTissue::By::grey;
  std::string line = grey ? "Tissue: grey up to " : "Tissue: saturation above ";
  line += std::to_string(mask->threshold) + (tissue.threshold == 0 ? " (found for this slide)" : "") +
          ", on a mask of " + mpp_number(mask->mpp) + " um a pixel";
  return line + "; at least " + four_digits(100 * tissue.least) + " % of each record";
}

std::string named(const std::vector<std::string>& classes) {
  std::string text;
  for (const std::string& name : classes) text += (text.empty() ? "" : ", ") + (name == "*" ? "any class" : name);
  return text;
}

std::string regions_line(const SlideInfo& slide, const Slides& options) {
  const SlideRegions& regions = options.regions;
  std::string line = "Regions: ";
  line +=
      slide.region_file.empty() ? "no file of this slide" : slide.region_file.substr(slide.region_file.rfind('/') + 1);
  if (!regions.include.empty()) line += "; records show " + named(regions.include);
  if (!regions.exclude.empty())
    line += (regions.include.empty() ? "; records don't show " : ", but not ") + named(regions.exclude);
  if (regions.include.empty() && regions.exclude.empty()) return line + "; they say what records show";
  line += "; at least " + four_digits(100 * regions.least) + " % of each record";
  return regions.field.empty() ? line : line + "; the field " + regions.field + " says which";
}

std::string count_line(const SlideInfo& slide, const Slides& options, const PlaceFacts& places) {
  if (slide.places == 0) return places.listed ? "No places in its list" : "No places: the slide is smaller than one";
  std::string line = counted_text(slide.records, "record") + " of " + counted_text(slide.places, "place");
  if (places.little_tissue != 0) line += "; " + with_separators(places.little_tissue) + " left out: too little tissue";
  if (places.outside_regions != 0)
    line += "; " + with_separators(places.outside_regions) +
            " left out: " + (places.view ? "not in this view" : "outside of the regions that are wanted");
  // A list does not keep the places that were left out, so the reason for each place is unknown.
  if (places.listed && slide.records != slide.places) {
    const bool by_tissue = options.tissue.by != SlideTissue::By::everywhere,
               by_regions = !options.regions.folder.empty();
    line += "; " + with_separators(slide.places - slide.records) + " left out: " +
            (by_tissue && by_regions ? "too little tissue, or outside of the regions that are wanted"
             : by_tissue             ? "too little tissue"
                                     : "outside of the regions that are wanted");
  }
  return line;
}

}  // namespace

std::vector<std::string> caption_lines(const SlideInfo& slide, const Slides& options,
                                       const std::optional<MaskFacts>& mask, const PlaceFacts& places) {
  std::vector<std::string> lines{slide.name,         count_line(slide, options, places),
                                 slide_line(slide),  way_line(slide),
                                 pixels_line(slide), grid_line(slide, options, places.listed)};
  const bool by_regions = !options.regions.folder.empty();
  if (mask || !by_regions) lines.push_back(tissue_line(options, mask));
  if (by_regions) lines.push_back(regions_line(slide, options));
  if (!slide.missing_levels.empty()) lines.push_back("Some levels can't be read: " + slide.missing_levels);
  if (!slide.unread_images.empty()) lines.push_back("Not read: " + slide.unread_images);
  return lines;
}

std::optional<ScaleBar> scale_bar(double mpp, std::int32_t most) {
  std::optional<ScaleBar> bar;
  if (mpp <= 0) return bar;
  constexpr double longest = 1e6;
  for (double power = 1; power <= longest; power *= 10)
    for (const double length : {power, 2 * power, 5 * power}) {
      const double pixels = length / mpp;
      if (pixels < 1 || pixels > most) continue;
      constexpr double millimetre = 1000;
      bar = {static_cast<std::int32_t>(pixels + 0.5),
             length < millimetre ? four_digits(length) + " um" : four_digits(length / millimetre) + " mm"};
    }
  return bar;
}

}  // namespace penstock::slide
