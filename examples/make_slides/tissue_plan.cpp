// SPDX-License-Identifier: Apache-2.0
#include "tissue_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace make_slides {

namespace {

// Numbers of the kinds of noise that the plan uses. The drawing's kinds have numbers from 100 on.
enum PlanNoise : std::uint32_t {
  noise_outline,
  noise_warp_x,
  noise_warp_y,
  noise_fine_warp_x,
  noise_fine_warp_y,
  noise_glands,
  noise_glands_more,
  noise_basal,
  noise_scattered,
  noise_scattered_more,
  noise_fibres,
  noise_fine_fibres,
  noise_infiltrate
};

// The numbers in which the kinds of tissue differ.
struct KindFacts {
  std::int32_t gland_pitch, gland_jitter;    // pixels
  std::int32_t least_radius, more_radius;    // pixels
  std::int32_t least_wall, more_wall;        // pixels
  std::uint32_t gland_chance, solid_chance;  // in 256ths: chance of a gland, and chance that it has no lumen
  std::int32_t most_narrow;                  // the most that `Gland::narrow` is above 256
  std::int32_t warp, fine_warp;              // pixels
  std::int32_t nucleus_pitch;                // pixels between scattered nuclei
};
constexpr KindFacts benign_facts{276, 64, 88, 46, 44, 16, 232, 8, 90, 24, 7, 22};
constexpr KindFacts tumor_facts{196, 110, 84, 62, 48, 34, 232, 110, 200, 34, 11, 18};
constexpr const KindFacts& facts_of(TissueKind kind) noexcept {
  return kind == TissueKind::benign ? benign_facts : tumor_facts;
}
constexpr std::int32_t widest_nucleus = 16;

// Turns the hash `dice` into the next hash, and returns a number below `end`.
std::int32_t below(std::uint32_t& dice, std::uint32_t end) noexcept {
  dice = dice * 0x915f77f5u + 0x6a09e667u;
  return static_cast<std::int32_t>((std::uint64_t{dice ^ (dice >> 16)} * end) >> 32);
}

// Returns noise from -1 to 1 with a lattice of whole numbers, for shapes as large as the slide. It may use doubles,
// because every machine rounds their sums and products alike.
double wide_noise(std::uint32_t seed, double x, double y) noexcept {
  const double left = std::floor(x), top = std::floor(y);
  const auto cx = static_cast<std::int32_t>(left), cy = static_cast<std::int32_t>(top);
  const auto eased = [](double t) { return t * t * (3 - 2 * t); };
  const double fx = eased(x - left), fy = eased(y - top);
  const auto at = [&](std::int32_t px, std::int32_t py) { return lattice_noise(seed, px, py) / 256.0; };
  const double above = at(cx, cy) + (at(cx + 1, cy) - at(cx, cy)) * fx;
  const double below_it = at(cx, cy + 1) + (at(cx + 1, cy + 1) - at(cx, cy + 1)) * fx;
  return above + (below_it - above) * fy;
}

std::int32_t round_root(std::int64_t square) noexcept {
  return static_cast<std::int32_t>(std::sqrt(static_cast<double>(square)));  // every machine rounds it alike
}

}  // namespace

TissuePlan::TissuePlan(TissueKind kind, std::uint64_t seed, std::int32_t width, std::int32_t height) noexcept
    : kind_(kind),
      seed_(seed ^ (kind == TissueKind::tumor ? 0x5851f42d4c957f2du : 0)),
      width_(width),
      height_(height) {}

std::int32_t TissuePlan::inside_q4(std::int32_t x, std::int32_t y) const noexcept {
  // The piece is an ellipse that covers most of the slide, with an outline bent by noise.
  const double right = (2.0 * x + 1) / width_, down = (2.0 * y + 1) / height_;  // 0 to 2
  const std::uint32_t outline = seed(noise_outline);
  const double bent = 0.34 * wide_noise(outline, 2 * right, 2 * down) +
                      0.16 * wide_noise(outline + 1, 5 * right, 5 * down) +
                      0.05 * wide_noise(outline + 2, 17 * right, 17 * down);
  const double within = 0.68 + bent - (right - 1) * (right - 1) - (down - 1) * (down - 1);
  // At the outline, `within` falls by about 1.7 per half of the slide's side.
  return static_cast<std::int32_t>(std::clamp(within * std::min(width_, height_) * (16 / 3.4), -1e6, 1e6));
}

TissuePlan::Warp TissuePlan::warp(std::int32_t x, std::int32_t y) const noexcept {
  const KindFacts& facts = facts_of(kind_);
  return {(noise_at(seed(noise_warp_x), 7, x, y) * facts.warp +
           noise_at(seed(noise_fine_warp_x), 5, x, y) * facts.fine_warp) /
              256,
          (noise_at(seed(noise_warp_y), 7, x, y) * facts.warp +
           noise_at(seed(noise_fine_warp_y), 5, x, y) * facts.fine_warp) /
              256};
}

std::int64_t TissuePlan::fibres(std::int32_t x, std::int32_t y) const noexcept {
  constexpr std::int32_t thickness = 11;  // pixels
  const Direction across = direction_of(seed(noise_fibres));
  const std::int64_t straight = (std::int64_t{x} * across.x + std::int64_t{y} * across.y) / (64 * thickness);
  return straight + std::int64_t{7} * noise_at(seed(noise_fibres), 8, x, y) +
         std::int64_t{2} * noise_at(seed(noise_fine_fibres), 6, x, y);
}

Direction TissuePlan::along_fibres(std::int32_t x, std::int32_t y) const noexcept {
  constexpr std::int32_t near = 6;
  const std::int64_t dx = fibres(x + near, y) - fibres(x - near, y), dy = fibres(x, y + near) - fibres(x, y - near);
  const std::int32_t length = round_root(dx * dx + dy * dy);
  if (length == 0) return {};
  return {static_cast<std::int32_t>(-dy * 16384 / length), static_cast<std::int32_t>(dx * 16384 / length)};
}

std::vector<Gland> TissuePlan::glands(const PixelBox& box) const {
  const KindFacts& facts = facts_of(kind_);
  const std::int32_t reach = facts.least_radius + facts.more_radius + facts.warp + facts.fine_warp + 64;
  const std::uint32_t where = seed(noise_glands), what = seed(noise_glands_more);
  const auto cell = [&](std::int32_t at) {
    return at >= 0 ? at / facts.gland_pitch : -((-at + facts.gland_pitch - 1) / facts.gland_pitch);
  };
  const std::int32_t around = reach + facts.gland_jitter;
  std::vector<Gland> found;
  for (std::int32_t cy = cell(box.y - around); cy <= cell(box.y + box.height + around); ++cy)
    for (std::int32_t cx = cell(box.x - around); cx <= cell(box.x + box.width + around); ++cx) {
      std::uint32_t dice = hash_of(where, cx, cy);
      if ((hash_of(what, cx, cy) & 255) >= facts.gland_chance) continue;
      const auto jitter = static_cast<std::uint32_t>(2 * facts.gland_jitter + 1);
      Gland gland;
      // Every second row is shifted by half a column.
      gland.x = cx * facts.gland_pitch + (cy & 1) * facts.gland_pitch / 2 + below(dice, jitter) - facts.gland_jitter;
      gland.y = cy * facts.gland_pitch + below(dice, jitter) - facts.gland_jitter;
      gland.radius = facts.least_radius + below(dice, static_cast<std::uint32_t>(facts.more_radius));
      gland.narrow = 256 + below(dice, static_cast<std::uint32_t>(facts.most_narrow));
      gland.wall_q4 = 16 * (facts.least_wall + below(dice, static_cast<std::uint32_t>(facts.more_wall)));
      gland.along = direction_of(static_cast<std::uint32_t>(below(dice, 1024)));
      if (static_cast<std::uint32_t>(below(dice, 256)) < facts.solid_chance) gland.wall_q4 = 1 << 14;
      if (gland.x + reach < box.x || gland.x - reach > box.x + box.width || gland.y + reach < box.y ||
          gland.y - reach > box.y + box.height)
        continue;
      found.push_back(gland);
    }
  return found;
}

GlandDistance TissuePlan::distance(const std::vector<Gland>& glands, std::int32_t x, std::int32_t y) const noexcept {
  const Warp w = warp(x, y);
  constexpr std::int32_t far = 16 * 48;  // a box does not know all glands that are farther away
  GlandDistance nearest{far, far};
  for (const Gland& gland : glands) {
    const std::int32_t dx = x + w.x - gland.x, dy = y + w.y - gland.y;
    if (std::abs(dx) > 640 || std::abs(dy) > 640) continue;  // glands of the box may be far from this pixel
    const std::int32_t along = (dx * gland.along.x + dy * gland.along.y) / 1024;  // sixteenths of a pixel
    const std::int32_t across = (dy * gland.along.x - dx * gland.along.y) / 1024 * gland.narrow / 256;
    const std::int32_t from_centre = round_root(std::int64_t{along} * along + std::int64_t{across} * across);
    const std::int32_t from_wall = from_centre - 16 * gland.radius;
    nearest.wall_q4 = std::min(nearest.wall_q4, from_wall);
    nearest.lumen_q4 = std::min(nearest.lumen_q4, from_wall + gland.wall_q4);
  }
  return nearest;
}

bool TissuePlan::inside(TissueExtent extent, std::int32_t x, std::int32_t y) const noexcept {
  if (extent == TissueExtent::piece) return inside_q4(x, y) > 16 * 8;
  return extent == TissueExtent::everywhere;
}

// Adds the nuclei of a benign gland, which are side by side at the outer end of its cells.
void TissuePlan::add_basal_row(const Gland& gland, const std::vector<Gland>& all, TissueExtent extent,
                               std::vector<Nucleus>& out) const {
  constexpr std::int32_t apart = 12, deep = 13;  // pixels
  const std::int32_t radius = gland.radius - deep, count = radius * 201 / (32 * apart);
  const std::uint32_t basal = seed(noise_basal);
  for (std::int32_t i = 0; i < count; ++i) {
    std::uint32_t dice = hash_of(basal, gland.x * 64 + i, gland.y);
    const auto turn = static_cast<std::uint32_t>(i * 1024 / count + below(dice, 5));
    const Direction out_of = direction_of(turn);
    const std::int32_t from_centre = radius - 4 + below(dice, 9);
    const std::int32_t along = from_centre * out_of.x / 1024;  // sixteenths of a pixel
    const std::int32_t across = from_centre * out_of.y / 1024 * 256 / gland.narrow;
    const std::int32_t warped_x = gland.x + (along * gland.along.x - across * gland.along.y) / (16 * 16384);
    const std::int32_t warped_y = gland.y + (along * gland.along.y + across * gland.along.x) / (16 * 16384);
    // Finds the place that the warp moves to this point. The warp at a nearby place is a good guess.
    const Warp guess = warp(warped_x, warped_y), w = warp(warped_x - guess.x, warped_y - guess.y);
    const std::int32_t x = warped_x - w.x, y = warped_y - w.y;
    const std::int32_t length = 96 + below(dice, 32), width = 66 + below(dice, 16), stain = 148 + below(dice, 34);
    if (below(dice, 256) < 10 || !inside(extent, x, y)) continue;
    if (std::abs(distance(all, x, y).wall_q4 + 16 * deep) > 16 * 9) continue;  // another gland covers this wall
    const Direction radial{(out_of.x * (gland.along.x / 128) - out_of.y * (gland.along.y / 128)) / 128,
                           (out_of.x * (gland.along.y / 128) + out_of.y * (gland.along.x / 128)) / 128};
    out.push_back({x, y, length, width, radial, stain, 60, 16, 26});
  }
}

void TissuePlan::add_epithelial(std::uint32_t dice, std::int32_t x, std::int32_t y, std::vector<Nucleus>& out) const {
  if (kind_ == TissueKind::benign) {
    if (below(dice, 256) < 9) out.push_back({x, y, 66, 62, {}, 190, 50, 0, 10});  // a lymphocyte among the cells
    return;
  }
  if (below(dice, 256) >= 232) return;
  const std::int32_t size = 92 + below(dice, 64) + (below(dice, 16) == 0 ? 44 : 0);
  const std::int32_t width = size * (170 + below(dice, 86)) / 256;
  const bool pale = below(dice, 256) < 120;  // with open chromatin and a nucleolus
  const std::int32_t stain = (pale ? 104 : 142) + below(dice, 52);
  const Direction along = direction_of(static_cast<std::uint32_t>(below(dice, 1024)));
  out.push_back({x, y, size, width, along, stain, 66, pale ? 62 : 24, pale ? 44 : 60});
  if (!pale) return;
  const std::int32_t aside = width / 40;
  out.push_back({x + below(dice, 5) - 2,
                 y + aside - below(dice, static_cast<std::uint32_t>(2 * aside + 1)),
                 30 + below(dice, 14),
                 28,
                 {},
                 200,
                 110,
                 0,
                 0});
}

void TissuePlan::add_stromal(std::uint32_t dice, std::int32_t x, std::int32_t y, std::vector<Nucleus>& out) const {
  const bool tumor = kind_ == TissueKind::tumor;
  const std::int32_t crowd = noise_at(seed(noise_infiltrate), 9, x, y);  // lymphocytes come in crowds
  const std::int32_t draw = below(dice, 256);
  const std::int32_t lymphocytes = std::max(tumor ? 14 : 6, (crowd - 70) * (tumor ? 2 : 1));
  const std::int32_t spindles = tumor ? 96 : 62, red = tumor ? 6 : 8;
  if (draw < lymphocytes) {
    const std::int32_t size = 60 + below(dice, 14);
    out.push_back({x, y, size, size - below(dice, 8), {}, 186 + below(dice, 26), 50, 8, 18});
  } else if (draw < lymphocytes + spindles) {
    const std::int32_t length = 116 + below(dice, 70), width = (tumor ? 46 : 34) + below(dice, 18);
    out.push_back({x, y, length, width, along_fibres(x, y), 128 + below(dice, 50), 74, 10, 22});
  } else if (draw < lymphocytes + spindles + red) {
    out.push_back({x, y, 58, 52, {}, 4, 186, 0, 0});  // a red blood cell
  }
}

void TissuePlan::add_scattered(const PixelBox& box, const std::vector<Gland>& all, TissueExtent extent,
                               std::vector<Nucleus>& out) const {
  const std::int32_t pitch = facts_of(kind_).nucleus_pitch, around = widest_nucleus + pitch;
  const std::uint32_t where = seed(noise_scattered), what = seed(noise_scattered_more);
  const auto cell = [&](std::int32_t at) {
    return (at + 1024 * pitch) / pitch - 1024;
  };  // boxes begin above -1024 * pitch
  for (std::int32_t cy = cell(box.y - around); cy <= cell(box.y + box.height + around); ++cy)
    for (std::int32_t cx = cell(box.x - around); cx <= cell(box.x + box.width + around); ++cx) {
      std::uint32_t dice = hash_of(where, cx, cy);
      const std::int32_t x = cx * pitch + below(dice, static_cast<std::uint32_t>(pitch));
      const std::int32_t y = cy * pitch + below(dice, static_cast<std::uint32_t>(pitch));
      const std::uint32_t more = hash_of(what, cx, cy);
      if (!inside(extent, x, y)) continue;
      const GlandDistance from = distance(all, x, y);
      if (from.lumen_q4 < 16 * 9) continue;
      const std::int32_t basal = kind_ == TissueKind::benign ? 16 * 26 : 16 * 5;
      if (from.wall_q4 < -basal)
        add_epithelial(more, x, y, out);
      else if (from.wall_q4 > 16 * 8)
        add_stromal(more, x, y, out);
    }
}

std::vector<Nucleus> TissuePlan::nuclei(const PixelBox& box, TissueExtent extent) const {
  std::vector<Nucleus> found;
  if (extent == TissueExtent::nowhere) return found;
  // Includes the glands of nuclei outside the box that reach into it.
  constexpr std::int32_t around = 4 * widest_nucleus;
  const std::vector<Gland> all =
      glands({box.x - around, box.y - around, box.width + 2 * around, box.height + 2 * around});
  add_scattered(box, all, extent, found);
  if (kind_ == TissueKind::benign)
    for (const Gland& gland : all) add_basal_row(gland, all, extent, found);
  std::erase_if(found, [&](const Nucleus& n) {
    return n.x + widest_nucleus < box.x || n.y + widest_nucleus < box.y || n.x - widest_nucleus >= box.x + box.width ||
           n.y - widest_nucleus >= box.y + box.height;
  });
  return found;
}

}  // namespace make_slides
