// SPDX-License-Identifier: Apache-2.0
#include "tissue/tissue_mask.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace penstock::slide {

namespace {

// Returns the grey value or the saturation of each pixel, from 0 to 255.
std::vector<std::uint8_t> values_of(const SmallPicture& picture, SlideTissue::By by) {
  std::vector<std::uint8_t> values(picture.rgb.size() / 3);
  const std::uint8_t* rgb = picture.rgb.data();
  for (std::uint8_t& value : values) {
    const int r = rgb[0], g = rgb[1], b = rgb[2];
    rgb += 3;
    if (by == SlideTissue::By::grey) {
      value = static_cast<std::uint8_t>((299 * r + 587 * g + 114 * b + 500) / 1000);
    } else {
      const int most = std::max({r, g, b}), least = std::min({r, g, b});
      value = most == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>((510 * (most - least) + most) / (2 * most));
    }
  }
  return values;
}

int threshold_of(std::span<const std::uint8_t> values, const MaskRules& rules) {
  if (rules.threshold != 0) return rules.threshold;
  std::array<std::uint64_t, 256> histogram{};
  for (const std::uint8_t value : values) ++histogram[value];
  constexpr int least_saturation = 8, most_grey = 245;
  const int otsu = otsu_threshold(histogram);
  return rules.by == SlideTissue::By::grey ? std::min(otsu, most_grey) : std::max(otsu, least_saturation);
}

// Works on a line of `count` bytes that are `step` apart. Sets each byte of `to` to `wanted` if a byte of `from` at
// most `reach` away is `wanted`, and otherwise to `1 - wanted`.
void spread_line(const std::uint8_t* from, std::size_t step, std::int32_t count, std::int32_t reach,
                 std::uint8_t wanted, std::uint8_t* to) {
  // The position of the last wanted byte; at first, a position that is too far away.
  std::int32_t last = -reach - 1;
  for (std::int32_t i = 0; i < count; ++i) {
    if (from[static_cast<std::size_t>(i) * step] == wanted) last = i;
    to[static_cast<std::size_t>(i) * step] = i - last <= reach ? wanted : static_cast<std::uint8_t>(1 - wanted);
  }
  last = count + reach;
  for (std::int32_t i = count; i-- > 0;) {
    if (from[static_cast<std::size_t>(i) * step] == wanted) last = i;
    if (last - i <= reach) to[static_cast<std::size_t>(i) * step] = wanted;
  }
}

// Grows the areas of `wanted` by a square with sides of 2 * reach + 1 pixels.
void grow(TissueMask& mask, std::int32_t reach, std::uint8_t wanted) {
  std::vector<std::uint8_t> across(mask.tissue.size());
  const auto width = static_cast<std::size_t>(mask.width);
  for (std::size_t y = 0; y < static_cast<std::size_t>(mask.height); ++y)
    spread_line(mask.tissue.data() + y * width, 1, mask.width, reach, wanted, across.data() + y * width);
  for (std::size_t x = 0; x < width; ++x)
    spread_line(across.data() + x, width, mask.height, reach, wanted, mask.tissue.data() + x);
}

// Neighbouring pixels of a row that have the same value. `set`: the number of a run in the same set of touching runs.
// `root` follows these numbers to the run that stands for the set.
struct Run {
  std::int32_t begin, end;
  std::size_t set;
};

// Inverts each set of touching pixels of `value` that has fewer than `least` pixels. Pixels touch if they share a side.
class SmallComponentFilter {
 public:
  SmallComponentFilter(TissueMask& mask, std::uint8_t value, double least)
      : mask_(mask), value_(value), least_(least) {}

  void turn() {
    std::vector<std::size_t> first_of_row{0};
    for (std::int32_t y = 0; y < mask_.height; ++y) {
      find_runs(y);
      join(first_of_row.size() < 2 ? 0 : first_of_row[first_of_row.size() - 2], first_of_row.back());
      first_of_row.push_back(runs_.size());
    }
    std::vector<std::uint64_t> pixels(runs_.size());
    for (const Run& run : runs_) pixels[root(run.set)] += static_cast<std::uint64_t>(run.end - run.begin);
    for (std::int32_t y = 0; y < mask_.height; ++y)
      for (std::size_t i = first_of_row[static_cast<std::size_t>(y)]; i < first_of_row[static_cast<std::size_t>(y) + 1];
           ++i)
        if (static_cast<double>(pixels[root(runs_[i].set)]) < least_)
          std::fill(row(y) + runs_[i].begin, row(y) + runs_[i].end, static_cast<std::uint8_t>(1 - value_));
  }

 private:
  std::uint8_t* row(std::int32_t y) {
    return mask_.tissue.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(mask_.width);
  }

  void find_runs(std::int32_t y) {
    const std::uint8_t* const pixels = row(y);
    for (std::int32_t x = 0; x < mask_.width;) {
      if (pixels[x] != value_) {
        ++x;
        continue;
      }
      const std::int32_t begin = x;
      while (x < mask_.width && pixels[x] == value_) ++x;
      runs_.push_back({begin, x, runs_.size()});
    }
  }

  // Joins the sets of runs that touch. Runs from `upper` to `lower` are in the row above the runs from `lower` on.
  void join(std::size_t upper, std::size_t lower) {
    std::size_t above = upper;
    for (std::size_t below = lower; below < runs_.size(); ++below) {
      while (above < lower && runs_[above].end <= runs_[below].begin) ++above;
      for (std::size_t i = above; i < lower && runs_[i].begin < runs_[below].end; ++i) {
        const std::size_t a = root(runs_[i].set), b = root(runs_[below].set);
        runs_[std::max(a, b)].set = std::min(a, b);
      }
    }
  }

  std::size_t root(std::size_t set) {
    while (runs_[set].set != set) {
      runs_[set].set = runs_[runs_[set].set].set;
      set = runs_[set].set;
    }
    return set;
  }

  TissueMask& mask_;
  const std::uint8_t value_;
  const double least_;
  std::vector<Run> runs_;
};

}  // namespace

int otsu_threshold(std::span<const std::uint64_t, 256> histogram) noexcept {
  double all = 0, sum = 0;
  for (std::size_t v = 0; v < histogram.size(); ++v) {
    all += static_cast<double>(histogram[v]);
    sum += static_cast<double>(v) * static_cast<double>(histogram[v]);
  }
  double below = 0, sum_below = 0, best = -1;
  int threshold = 0;
  for (std::size_t v = 0; v + 1 < histogram.size(); ++v) {
    below += static_cast<double>(histogram[v]);
    sum_below += static_cast<double>(v) * static_cast<double>(histogram[v]);
    const double above = all - below;
    if (below == 0 || above == 0) continue;
    const double apart = sum_below / below - (sum - sum_below) / above;
    const double variance = below * above * apart * apart;
    if (variance > best) {
      best = variance;
      threshold = static_cast<int>(v);
    }
  }
  return threshold;
}

TissueMask find_tissue(const SmallPicture& picture, const MaskRules& rules) {
  TissueMask mask{picture.width, picture.height, 0, values_of(picture, rules.by)};
  mask.threshold = threshold_of(mask.tissue, rules);
  const bool grey = rules.by == SlideTissue::By::grey;
  for (std::uint8_t& value : mask.tissue) value = (value > mask.threshold) != grey ? 1 : 0;
  if (rules.closing > 0) {
    grow(mask, rules.closing, 1);
    grow(mask, rules.closing, 0);
  }
  if (rules.least_area > 0) {
    SmallComponentFilter(mask, 1, rules.least_area).turn();
    SmallComponentFilter(mask, 0, rules.least_area).turn();
  }
  return mask;
}

TissueCounts::TissueCounts(const TissueMask& mask)
    : stride_(static_cast<std::size_t>(mask.width) + 1), sums_(stride_ * (static_cast<std::size_t>(mask.height) + 1)) {
  for (std::size_t y = 0; y < static_cast<std::size_t>(mask.height); ++y) {
    std::uint32_t in_row = 0;
    for (std::size_t x = 0; x + 1 < stride_; ++x) {
      in_row += mask.tissue[y * (stride_ - 1) + x];
      sums_[(y + 1) * stride_ + x + 1] = sums_[y * stride_ + x + 1] + in_row;
    }
  }
}

std::uint64_t TissueCounts::in(std::int32_t left, std::int32_t top, std::int32_t right,
                               std::int32_t bottom) const noexcept {
  const auto at = [&](std::int32_t x, std::int32_t y) {
    return sums_[static_cast<std::size_t>(y) * stride_ + static_cast<std::size_t>(x)];
  };
  // Intermediate results may wrap around. The count is right, because a mask has fewer than 2^32 pixels.
  return at(right, bottom) - at(left, bottom) - at(right, top) + at(left, top);
}

}  // namespace penstock::slide
