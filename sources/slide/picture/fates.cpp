#include "picture/fates.hpp"

#include <algorithm>
#include <cstddef>

#include "source/place_box.hpp"
#include "tissue/tissue_places.hpp"

namespace penstock::slide {

namespace {

// How many areas cover each pixel, in time that doesn't depend on how large they are.
class Cover {
 public:
  Cover(std::int32_t width, std::int32_t height)
      : width_(static_cast<std::size_t>(width)), height_(static_cast<std::size_t>(height)) {
    changes_.resize((width_ + 1) * (height_ + 1));
  }
  void add(const Area& area) noexcept {
    // Modulo 2^32, as the sums are.
    ++at(area.left, area.top);
    --at(area.right, area.top);
    --at(area.left, area.bottom);
    ++at(area.right, area.bottom);
  }
  void mark(std::vector<Fate>& fates, Fate fate) {
    std::vector<std::uint32_t> above(width_);
    for (std::size_t y = 0; y < height_; ++y) {
      std::uint32_t in_row = 0;
      for (std::size_t x = 0; x < width_; ++x) {
        in_row += changes_[y * (width_ + 1) + x];
        above[x] += in_row;
        if (above[x] != 0) fates[y * width_ + x] = fate;
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

// Where all places are records, columns and rows say it: a grid may have more places than can be looked at.
void mark_all(const SlideFile& slide, const Slides& options, const Overview& overview, std::vector<Fate>& fates) {
  std::vector<Fate> columns(static_cast<std::size_t>(overview.width()), Fate::no_place);
  std::vector<Fate> rows(static_cast<std::size_t>(overview.height()), Fate::no_place);
  Cover across(overview.width(), 1), down(overview.height(), 1);
  for (std::uint64_t i = 0; i < slide.records.grid.columns(); ++i) {
    const Area area = overview.area_of(place_box(slide, options, {i, 0}));
    across.add({area.left, 0, area.right, 1});
  }
  for (std::uint64_t i = 0; i < slide.records.grid.rows(); ++i) {
    const Area area = overview.area_of(place_box(slide, options, {0, i}));
    down.add({area.top, 0, area.bottom, 1});
  }
  across.mark(columns, Fate::record);
  down.mark(rows, Fate::record);
  for (std::size_t y = 0; y < rows.size(); ++y)
    for (std::size_t x = 0; x < columns.size(); ++x)
      if (rows[y] == Fate::record && columns[x] == Fate::record) fates[y * columns.size() + x] = Fate::record;
}

}  // namespace

std::uint64_t PlaceFates::count(Fate fate) const noexcept {
  return static_cast<std::uint64_t>(std::ranges::count(fates, fate));
}

PlaceFates place_fates(const SlideFile& slide, const Slides& options, const std::optional<TissueMask>& mask) {
  PlaceFates places;
  if (slide.records.grid.is_list() || slide.records.grid.kept().empty()) return places;
  std::optional<TissueCounts> counts;
  if (mask) counts.emplace(*mask);
  for (std::uint64_t i = 0; i < slide.records.grid.columns() * slide.records.grid.rows(); ++i) {
    Fate fate = Fate::record;
    if (!slide.records.grid.keeps(i)) {
      const SlideBox box = place_box(slide, options, slide.records.grid.place_of_all(i));
      fate = counts && !shows_tissue(slide, *mask, *counts, options.tissue.least, box) ? Fate::little_tissue
                                                                                       : Fate::outside_regions;
    }
    places.fates.push_back(fate);
  }
  return places;
}

std::vector<Fate> fates_of(const SlideFile& slide, const Slides& options, const Overview& overview,
                           const PlaceFates& places) {
  const auto width = static_cast<std::size_t>(overview.width()), height = static_cast<std::size_t>(overview.height());
  std::vector<Fate> fates(width * height, Fate::no_place);
  if (places.fates.empty() && !slide.records.grid.is_list()) {
    mark_all(slide, options, overview, fates);
    return fates;
  }
  for (const Fate fate : {Fate::little_tissue, Fate::outside_regions, Fate::record}) {
    Cover cover(overview.width(), overview.height());
    for (std::uint64_t i = 0; i < places.fates.size(); ++i)
      if (places.fates[static_cast<std::size_t>(i)] == fate)
        cover.add(overview.area_of(place_box(slide, options, slide.records.grid.place_of_all(i))));
    if (slide.records.grid.is_list() && fate == Fate::record)
      for (std::uint64_t i = 0; i < slide.records.grid.size(); ++i)
        cover.add(overview.area_of(place_box(slide, options, slide.records.grid.place(i))));
    cover.mark(fates, fate);
  }
  return fates;
}

}  // namespace penstock::slide
