// SPDX-License-Identifier: Apache-2.0
#include "picture/place_outcomes.hpp"

#include <algorithm>
#include <cstddef>

#include "source/place_box.hpp"
#include "tissue/tissue_places.hpp"

namespace penstock::slide {

namespace {

// Counts how many areas cover each pixel. Small and large areas take the same time to add.
class Cover {
 public:
  Cover(std::int32_t width, std::int32_t height)
      : width_(static_cast<std::size_t>(width)), height_(static_cast<std::size_t>(height)) {
    changes_.resize((width_ + 1) * (height_ + 1));
  }
  void add(const Area& area) noexcept {
    // The counts may wrap around here. Their sums, which are also modulo 2^32, are right.
    ++at(area.left, area.top);
    --at(area.right, area.top);
    --at(area.left, area.bottom);
    ++at(area.right, area.bottom);
  }
  void mark(std::vector<PlaceOutcome>& outcomes, PlaceOutcome outcome) {
    std::vector<std::uint32_t> above(width_);
    for (std::size_t y = 0; y < height_; ++y) {
      std::uint32_t in_row = 0;
      for (std::size_t x = 0; x < width_; ++x) {
        in_row += changes_[y * (width_ + 1) + x];
        above[x] += in_row;
        if (above[x] != 0) outcomes[y * width_ + x] = outcome;
      }
    }
  }

 private:
  std::uint32_t& at(std::int32_t x, std::int32_t y) noexcept {
    return changes_[static_cast<std::size_t>(y) * (width_ + 1) + static_cast<std::size_t>(x)];
  }
  const std::size_t width_, height_;
  std::vector<std::uint32_t> changes_;
};

// Sets the outcomes for a slide of which all places are records. Looks only at the grid's columns and rows, because a
// grid may have very many places.
void mark_all(const SlideFile& slide, const Slides& options, const PictureMapping& overview,
              std::vector<PlaceOutcome>& outcomes) {
  std::vector<PlaceOutcome> columns(static_cast<std::size_t>(overview.width()), PlaceOutcome::no_place);
  std::vector<PlaceOutcome> rows(static_cast<std::size_t>(overview.height()), PlaceOutcome::no_place);
  Cover across(overview.width(), 1), down(overview.height(), 1);
  for (std::uint64_t i = 0; i < slide.records.grid.columns(); ++i) {
    const Area area = overview.area_of(place_box(slide, options, {i, 0}));
    across.add({area.left, 0, area.right, 1});
  }
  for (std::uint64_t i = 0; i < slide.records.grid.rows(); ++i) {
    const Area area = overview.area_of(place_box(slide, options, {0, i}));
    down.add({area.top, 0, area.bottom, 1});
  }
  across.mark(columns, PlaceOutcome::record);
  down.mark(rows, PlaceOutcome::record);
  for (std::size_t y = 0; y < rows.size(); ++y)
    for (std::size_t x = 0; x < columns.size(); ++x)
      if (rows[y] == PlaceOutcome::record && columns[x] == PlaceOutcome::record)
        outcomes[y * columns.size() + x] = PlaceOutcome::record;
}

}  // namespace

std::uint64_t PlaceOutcomes::count(PlaceOutcome outcome) const noexcept {
  return static_cast<std::uint64_t>(std::ranges::count(outcomes, outcome));
}

PlaceOutcomes place_outcomes(const SlideFile& slide, const Slides& options, const std::optional<TissueMask>& mask) {
  PlaceOutcomes places;
  if (slide.records.grid.is_list() || slide.records.grid.kept().empty()) return places;
  std::optional<TissueCounts> counts;
  if (mask) counts.emplace(*mask);
  for (std::uint64_t i = 0; i < slide.records.grid.columns() * slide.records.grid.rows(); ++i) {
    PlaceOutcome outcome = PlaceOutcome::record;
    if (!slide.records.grid.keeps(i)) {
      const SlideBox box = place_box(slide, options, slide.records.grid.place_of_all(i));
      outcome = counts && !shows_tissue(slide, *mask, *counts, options.tissue.least, box)
                    ? PlaceOutcome::little_tissue
                    : PlaceOutcome::outside_regions;
    }
    places.outcomes.push_back(outcome);
  }
  return places;
}

std::vector<PlaceOutcome> outcomes_of(const SlideFile& slide, const Slides& options, const PictureMapping& overview,
                                      const PlaceOutcomes& places) {
  const auto width = static_cast<std::size_t>(overview.width()), height = static_cast<std::size_t>(overview.height());
  std::vector<PlaceOutcome> outcomes(width * height, PlaceOutcome::no_place);
  if (places.outcomes.empty() && !slide.records.grid.is_list()) {
    mark_all(slide, options, overview, outcomes);
    return outcomes;
  }
  for (const PlaceOutcome outcome :
       {PlaceOutcome::little_tissue, PlaceOutcome::outside_regions, PlaceOutcome::record}) {
    Cover cover(overview.width(), overview.height());
    for (std::uint64_t i = 0; i < places.outcomes.size(); ++i)
      if (places.outcomes[static_cast<std::size_t>(i)] == outcome)
        cover.add(overview.area_of(place_box(slide, options, slide.records.grid.place_of_all(i))));
    if (slide.records.grid.is_list() && outcome == PlaceOutcome::record)
      for (std::uint64_t i = 0; i < slide.records.grid.size(); ++i)
        cover.add(overview.area_of(place_box(slide, options, slide.records.grid.place(i))));
    cover.mark(outcomes, outcome);
  }
  return outcomes;
}

}  // namespace penstock::slide
