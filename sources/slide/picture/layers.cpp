// SPDX-License-Identifier: Apache-2.0
#include "picture/layers.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "picture/outline.hpp"
#include "source/place_box.hpp"

namespace penstock::slide {

namespace {

constexpr Rgb record_colour{0, 90, 200}, unread_colour{255, 130, 0}, dim_colour{150, 150, 150},
    stripe_colour{95, 95, 95}, unmarked{255, 255, 255};
constexpr int tint_parts = 20, dim_parts = 60, stripe_parts = 75, faint_parts = 50;
// If `place_pixels_` is less than this, records have no outlines of their own, because these would cover everything.
constexpr double least_outlined = 5;

}  // namespace

Layers::Layers(const SlideFile& slide, const Slides& options, const PictureMapping& overview, SmallPicture small,
               std::int32_t scale)
    : slide_(slide),
      options_(options),
      overview_(overview),
      scale_(scale),
      picture_(small.width, small.height, std::move(small.rgb)),
      unknown_(std::move(small.unknown)),
      place_pixels_(overview.length(std::min(options.size, options.stride))) {}

// Colours a pixel by its outcome.
void Layers::show(Bitmap& bitmap, std::int32_t x, std::int32_t y, PlaceOutcome outcome) const noexcept {
  constexpr std::int32_t period = 6, stripe = 2;  // in pixels of the font, each `scale_` pixels wide
  switch (outcome) {
    case PlaceOutcome::record:
      if (place_pixels_ < least_outlined) bitmap.blend(x, y, record_colour, tint_parts);
      return;
    case PlaceOutcome::little_tissue:
    case PlaceOutcome::outside_regions:
      bitmap.blend(x, y, dim_colour, dim_parts);
      return;
    case PlaceOutcome::no_place:
      if ((x + y) / scale_ % period < stripe)
        bitmap.blend(x, y, stripe_colour, stripe_parts);
      else
        bitmap.blend(x, y, dim_colour, dim_parts);
      return;
  }
}

Bitmap Layers::empty_swatch() const { return {swatch_side * scale_, swatch_side * scale_, unmarked}; }

void Layers::explain(PlaceOutcome outcome, const std::string& meaning) {
  Bitmap swatch = empty_swatch();
  for (std::int32_t y = 0; y < swatch.height(); ++y)
    for (std::int32_t x = 0; x < swatch.width(); ++x) show(swatch, x, y, outcome);
  if (outcome == PlaceOutcome::record) swatch.frame({0, 0, swatch.width(), swatch.height()}, scale_, record_colour);
  legend_.push_back({std::move(swatch), meaning});
}

void Layers::draw_outcomes(const PlaceOutcomes& places) {
  outcomes_ = outcomes_of(slide_, options_, overview_, places);
  for (std::size_t i = 0; i < outcomes_.size(); ++i) show(picture_, x_of(i), y_of(i), outcomes_[i]);
  const auto has = [&](PlaceOutcome outcome) { return std::ranges::find(outcomes_, outcome) != outcomes_.end(); };
  if (has(PlaceOutcome::record)) explain(PlaceOutcome::record, "record");
  if (slide_.is_view() && (has(PlaceOutcome::little_tissue) || has(PlaceOutcome::outside_regions)))
    explain(PlaceOutcome::little_tissue, "left out: not in this view");
  else if (has(PlaceOutcome::little_tissue) && has(PlaceOutcome::outside_regions))
    explain(PlaceOutcome::little_tissue, "left out: too little tissue, or outside of the regions that are wanted");
  else if (has(PlaceOutcome::little_tissue))
    explain(PlaceOutcome::little_tissue, "left out: too little tissue");
  else if (has(PlaceOutcome::outside_regions))
    explain(PlaceOutcome::outside_regions, "left out: outside of the regions that are wanted");
  if (has(PlaceOutcome::no_place))
    explain(PlaceOutcome::no_place, slide_.records.grid.is_list() ? "in no record" : "in no place of the grid");
}

void Layers::draw_unread() {
  if (unknown_.empty()) return;
  for (std::size_t i = 0; i < unknown_.size(); ++i)
    if (unknown_[i] != 0) picture_.set(x_of(i), y_of(i), unread_colour);
  Bitmap swatch = empty_swatch();
  swatch.fill({0, 0, swatch.width(), swatch.height()}, unread_colour);
  legend_.push_back({std::move(swatch), "can't be read"});
}

void Layers::draw_record_outlines() {
  std::vector<std::uint8_t> mask(outcomes_.size());
  if (place_pixels_ < least_outlined) {
    std::ranges::transform(outcomes_, mask.begin(),
                           [](PlaceOutcome outcome) { return outcome == PlaceOutcome::record ? 1 : 0; });
    draw_outline(picture_, mask, picture_.width(), picture_.height(), 1, record_colour);
    return;
  }
  constexpr double pixels_for_one = 24, least_opaque = 16;
  const auto thick = std::clamp(static_cast<std::int32_t>(place_pixels_ / pixels_for_one), 1, scale_);
  // The mask is blended at the end, because neighbouring records share a line that must be blended only once.
  const auto mark = [&](std::int32_t left, std::int32_t top, std::int32_t right, std::int32_t bottom) {
    for (std::int32_t y = top; y < std::min(bottom, picture_.height()); ++y)
      std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(y) * picture_.width() + left,
                  std::min(right, picture_.width()) - left, std::uint8_t{1});
  };
  for (std::uint64_t i = 0; i < slide_.records.grid.size(); ++i) {
    const Area area = overview_.area_of(place_box(slide_, options_, slide_.records.grid.place(i)));
    // A slide may be narrower than a line, so `right` and `bottom` are at least the area's left and top.
    const std::int32_t right = std::max(std::min(area.right, picture_.width() - thick), area.left),
                       bottom = std::max(std::min(area.bottom, picture_.height() - thick), area.top);
    mark(area.left, area.top, right + thick, area.top + thick);
    mark(area.left, bottom, right + thick, bottom + thick);
    mark(area.left, area.top, area.left + thick, bottom + thick);
    mark(right, area.top, right + thick, bottom + thick);
  }
  const int parts = place_pixels_ < least_opaque ? faint_parts : 100;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i] != 0) picture_.blend(x_of(i), y_of(i), record_colour, parts);
}

void Layers::draw_edge(std::span<const std::uint8_t> mask, const std::string& meaning, Rgb colour) {
  draw_outline(picture_, mask, picture_.width(), picture_.height(), scale_, colour);
  Bitmap swatch = empty_swatch();
  swatch.fill({0, swatch.height() / 2 - scale_ / 2, swatch.width(), swatch.height() / 2 - scale_ / 2 + scale_}, colour);
  legend_.push_back({std::move(swatch), meaning});
}

}  // namespace penstock::slide
