// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/slide_picture.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "file/errors.hpp"
#include "picture/bitmap.hpp"
#include "picture/caption.hpp"
#include "picture/layers.hpp"
#include "picture/picture_mapping.hpp"
#include "regions/region_origin.hpp"
#include "regions/region_places.hpp"
#include "regions/region_plane.hpp"
#include "source/source_impl.hpp"
#include "tissue/block_means.hpp"
#include "tissue/tissue_places.hpp"

namespace penstock {

using slide::Bitmap;
using slide::SlideFile;

/// Draws a slide. Reads the implementation of the slide's source.
class SlideDrawing {
 public:
  SlideDrawing(const SlideSource& source, std::size_t number)
      : impl_(*source.impl_), info_(source.slides().at(number)), slide_(reopened(impl_, number)) {}

  SlidePicture draw(const SlidePictureOptions& options) const {
    const slide::OverviewSource source = slide::choose_overview(slide_.all_levels, options.side);
    constexpr std::int32_t most_k = 4096;  // sums over more pixels per side may not fit in 32 bits
    if (source.k > most_k)
      throw slide::error_in(slide_.path, Errc::limit_exceeded,
                            "the slide is more than 4096 times as large as its picture would be; take a larger `side`");
    const slide::PictureMapping overview(slide_, source);
    const std::int32_t longer = std::max(overview.width(), overview.height());
    slide::Caption caption;
    caption.scale = std::max(1, (longer + pixels_a_scale / 2) / pixels_a_scale);
    slide::Layers layers(
        slide_, impl_.options, overview,
        read_block_means(*impl_.readers, at_level(slide_, source.level, slide_.all_levels[source.level]), source.k),
        caption.scale);
    std::optional<slide::TissueMask> mask;
    if (impl_.options.tissue.by != SlideTissue::By::everywhere)
      mask = make_mask(*impl_.readers, slide_, impl_.options.tissue);
    const slide::PlaceOutcomes places = place_outcomes(slide_, impl_.options, mask);
    layers.draw_outcomes(places);
    layers.draw_unread();
    layers.draw_record_outlines();
    std::optional<slide::MaskFacts> facts;
    if (mask) {
      facts = {mask->threshold, slide_.mask_source->mpp};
      layers.draw_edge(overview.seen_through(mask->tissue, mask_grid(slide_, *mask)), "edge of tissue",
                       slide::tissue_colour);
    }
    draw_regions(layers, overview);
    if (!options.caption) {
      Bitmap slide = layers.picture();
      return {slide.width(), slide.height(), std::move(slide.rgb())};
    }
    const std::int32_t width = std::max(overview.width(), slide::least_caption_width * caption.scale);
    caption.lines = caption_lines(
        info_, impl_.options, facts,
        {slide_.records.grid.is_list(), slide_.is_view(), places.count(slide::PlaceOutcome::little_tissue),
         places.count(slide::PlaceOutcome::outside_regions)});
    caption.legend = std::move(layers.legend());
    caption.bar = slide::scale_bar(overview.step() * info_.mpp_x, width / 4);
    return joined(layers.picture(), draw_caption(caption, width));
  }

 private:
  // The font's scale is the longer side of the picture divided by this number of pixels.
  static constexpr std::int32_t pixels_a_scale = 500;

  // Draws the edges of the regions whose classes affect places. Each class has a colour.
  void draw_regions(slide::Layers& layers, const slide::PictureMapping& overview) const {
    if (slide_.region_file.empty()) return;
    const SlideRegions& rules = impl_.options.regions;
    const slide::Regions regions = slide::read_placed_regions(slide_, rules).regions;
    for (std::size_t number = 0; number < regions.classes.size(); ++number) {
      const slide::RegionClass& one = regions.classes[number];
      const bool excluded = slide::is_listed(rules.exclude, one.name);
      if (!excluded && !slide::may_show(rules, one.name)) continue;
      slide::RegionPlane plane(region_grid(slide_, rules.mpp));
      paint_class(plane, regions, one, 1);
      const std::string meaning = (excluded ? "region that is left out: " : "region: ") + one.name;
      layers.draw_edge(overview.seen_through(plane.bytes(), plane.grid()), meaning,
                       slide::region_colours[number % slide::region_colours.size()]);
    }
  }

  // Opens the slide again, to get all its levels and the source of its mask. The SlideSource does not keep these.
  static SlideFile reopened(const SlideSource::Impl& impl, std::size_t number) {
    const SlideFile& first = impl.slides[number];
    if (first.failure) throw Error(*first.failure);
    slide::SlideOpenOptions settings = impl.settings_of(number);
    settings.all_levels = true;
    std::atomic<std::size_t> keep_nothing = 0;
    SlideFile slide = slide::open_slide(first.path, number, settings, keep_nothing);
    // This is checked before `failure`, because an error of a different file shows nothing about this slide.
    const bool same = first.mark ? slide.mark == first.mark : slide.sample == first.sample;
    if (slide.mark && !same) throw slide::changed_error(first.path);
    if (slide.failure) throw Error(*slide.failure);
    slide.records.grid = first.records.grid;
    slide.region_file = first.region_file;
    slide.choice = first.choice;
    slide.records.places = first.records.places;
    return slide;
  }

  // Joins the slide and the caption below it, and draws lines at the slide's lower and right edges.
  static SlidePicture joined(const Bitmap& slide, const Bitmap& caption) {
    constexpr slide::Rgb page{255, 255, 255}, line{120, 120, 120};
    Bitmap all(caption.width(), slide.height() + 1 + caption.height(), page);
    all.fill({0, slide.height(), all.width(), slide.height() + 1}, line);
    all.fill({slide.width(), 0, slide.width() + 1, slide.height()}, line);
    all.paste(slide, 0, 0);
    all.paste(caption, 0, slide.height() + 1);
    return {all.width(), all.height(), std::move(all.rgb())};
  }

  const SlideSource::Impl& impl_;
  const SlideInfo& info_;
  const SlideFile slide_;
};

SlidePicture draw_slide(const SlideSource& source, std::size_t slide, const SlidePictureOptions& options) {
  constexpr std::int32_t least = 64, most = 8192;
  if (options.side < least || options.side > most)
    throw Error(Errc::invalid_argument,
                "`side` is " + std::to_string(options.side) + " pixels; 64 to 8192 are possible")
        .with_source(slide::source_name);
  if (slide >= source.slides().size())
    throw Error(Errc::not_found, "there is no slide " + std::to_string(slide) + "; the source has " +
                                     std::to_string(source.slides().size()))
        .with_source(slide::source_name);
  return SlideDrawing(source, slide).draw(options);
}

}  // namespace penstock
