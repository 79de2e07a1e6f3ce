#include "picture/fates.hpp"

#include <cstddef>

#include "source/place_box.hpp"

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
  for (std::uint64_t i = 0; i < slide.grid.columns(); ++i) {
    const Area area = overview.area_of(place_box(slide, options, {i, 0}));
    across.add({area.left, 0, area.right, 1});
  }
  for (std::uint64_t i = 0; i < slide.grid.rows(); ++i) {
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

std::vector<Fate> fates_of(const SlideFile& slide, const Slides& options, const Overview& overview) {
  const auto width = static_cast<std::size_t>(overview.width()), height = static_cast<std::size_t>(overview.height());
  std::vector<Fate> fates(width * height, Fate::no_place);
  if (slide.grid.kept().empty()) {
    mark_all(slide, options, overview, fates);
    return fates;
  }
  for (const Fate fate : {Fate::little_tissue, Fate::record}) {
    Cover cover(overview.width(), overview.height());
    for (std::uint64_t i = 0; i < slide.grid.columns() * slide.grid.rows(); ++i)
      if (slide.grid.keeps(i) == (fate == Fate::record))
        cover.add(overview.area_of(place_box(slide, options, slide.grid.place_of_all(i))));
    cover.mark(fates, fate);
  }
  return fates;
}

}  // namespace penstock::slide
