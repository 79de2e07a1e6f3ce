// SPDX-License-Identifier: Apache-2.0
#include "drawn_tissue.hpp"

#include <algorithm>

namespace make_slides {

namespace {

// Numbers of the kinds of noise that the drawing uses. Numbers below 100 belong to the plan.
enum DrawNoise : std::uint32_t {
  noise_fine = 100,
  noise_middle,
  noise_broad,
  noise_cleft,
  noise_grain,
  noise_stains,
  noise_speck
};

// The factors of red, green and blue light that a sixteenth of a unit of stain lets through.
constexpr std::array<double, 3> haematoxylin_decay{0.9995772768726087, 0.9994854449288906, 0.9997720884757783};
constexpr std::array<double, 3> eosin_decay{0.9999562509570173, 0.9997750253106017, 0.9998875063278877};
constexpr std::array<double, 3> lamp{244, 242, 245};

std::int32_t mixed(std::int32_t from, std::int32_t to, std::int32_t share) noexcept {
  return from + (((to - from) * share) >> 8);
}
// Returns 0 to 256, rising linearly while `depth` goes from -128 / slope to 128 / slope.
std::int32_t covered(std::int32_t depth, std::int32_t slope) noexcept {
  return std::clamp(128 + depth * slope, 0, 256);
}

// Adds the stain of a nucleus to the pixels of a box.
void draw_nucleus(const Nucleus& nucleus, const PixelBox& box, const std::int16_t* fine, std::int16_t* haematoxylin,
                  std::int16_t* eosin) noexcept {
  const std::int32_t reach = (std::max(nucleus.long_q4, nucleus.short_q4) * 9 / 8 + 15) / 16 + 1;
  const std::int32_t left = std::max(nucleus.x - reach, box.x),
                     right = std::min(nucleus.x + reach, box.x + box.width - 1);
  const std::int32_t top = std::max(nucleus.y - reach, box.y),
                     bottom = std::min(nucleus.y + reach, box.y + box.height - 1);
  // In these units, each half axis has length 1024.
  const std::int32_t along_x = nucleus.along.x / nucleus.long_q4, along_y = nucleus.along.y / nucleus.long_q4;
  const std::int32_t across_x = -nucleus.along.y / nucleus.short_q4, across_y = nucleus.along.x / nucleus.short_q4;
  // With this factor, the soft edge of small and large nuclei is equally wide.
  const std::int32_t steep = std::min(nucleus.long_q4, nucleus.short_q4);
  for (std::int32_t y = top; y <= bottom; ++y) {
    const auto row = static_cast<std::size_t>(y - box.y) * static_cast<std::size_t>(box.width);
    for (std::int32_t x = left; x <= right; ++x) {
      const std::int32_t dx = x - nucleus.x, dy = y - nucleus.y;
      const std::int32_t u = dx * along_x + dy * along_y, v = dx * across_x + dy * across_y;
      const auto at = row + static_cast<std::size_t>(x - box.x);
      const std::int32_t bumps = fine[at];
      const std::int32_t depth = 1024 - ((u * u + v * v) >> 10) - bumps / 2;  // 0 at the edge
      const std::int32_t share = std::clamp((depth * steep) >> 8, 0, 256);
      if (share == 0) continue;
      const std::int32_t chromatin = nucleus.haematoxylin + ((bumps * nucleus.grain) >> 7) +
                                     (depth < 460 ? nucleus.rim : nucleus.rim * (1024 - depth) / 1024);
      haematoxylin[at] = static_cast<std::int16_t>(mixed(haematoxylin[at], chromatin, share));
      eosin[at] = static_cast<std::int16_t>(mixed(eosin[at], nucleus.eosin, share));
    }
  }
}

}  // namespace

DrawnTissue::DrawnTissue(TissueKind kind, std::uint64_t seed, std::int32_t width, std::int32_t height)
    : plan_(kind, seed, width, height) {
  // Slides are stained differently: each stain has a strength of 14 to 17 sixteenths.
  const std::uint32_t dice = hash_of(plan_.seed(noise_stains), 0, 0);
  const auto fill = [](Light& light, const std::array<double, 3>& decay, std::uint32_t strength,
                       const std::array<double, 3>& first) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      double left = first[channel] * 256;
      for (std::size_t amount = 0; amount < amounts; ++amount) {
        light[amount][channel] = static_cast<std::uint32_t>(left + 0.5);
        for (std::uint32_t i = 0; i < strength; ++i) left *= decay[channel];
      }
    }
  };
  fill(through_haematoxylin_, haematoxylin_decay, 14 + (dice & 3), lamp);
  fill(through_eosin_, eosin_decay, 14 + ((dice >> 8) & 3), {255, 255, 255});
}

void DrawnTissue::draw(const PixelBox& box, TissueExtent extent, std::uint8_t* rgb) const {
  const auto pixels = static_cast<std::size_t>(box.width) * static_cast<std::size_t>(box.height);
  std::vector<std::int16_t> haematoxylin(pixels), eosin(pixels);
  stain(box, extent, haematoxylin.data(), eosin.data());
  develop(box, haematoxylin.data(), eosin.data(), rgb);
}

void DrawnTissue::stain(const PixelBox& box, TissueExtent extent, std::int16_t* haematoxylin,
                        std::int16_t* eosin) const {
  if (extent == TissueExtent::nowhere) return;
  const bool tumor = plan_.kind() == TissueKind::tumor;
  Lattice inside(box, 4, [&](std::int32_t x, std::int32_t y) {
    return extent == TissueExtent::piece ? std::min(plan_.inside_q4(x, y), 1 << 12) : 1 << 12;
  });
  const std::vector<Gland> glands = plan_.glands(box);
  std::vector<std::int32_t> lumen_q4;
  Lattice wall(box, 3, [&](std::int32_t x, std::int32_t y) {
    const GlandDistance from = plan_.distance(glands, x, y);
    lumen_q4.push_back(from.lumen_q4);
    return from.wall_q4;
  });
  std::size_t next = 0;
  Lattice lumen(box, 3, [&](std::int32_t, std::int32_t) { return lumen_q4[next++]; });
  // Fibres are counted from the box's corner, so that numbers stay small. Whole fibres make no difference to the
  // pixels.
  const std::int64_t first_fibre = plan_.fibres(box.x, box.y) & ~std::int64_t{255};
  Lattice fibres(box, 3, [&](std::int32_t x, std::int32_t y) {
    return static_cast<std::int32_t>(plan_.fibres(x, y) - first_fibre);
  });
  Lattice speck = noise_of(box, plan_.seed(noise_speck), 1), fine = noise_of(box, plan_.seed(noise_fine), 2),
          middle = noise_of(box, plan_.seed(noise_middle), 4), broad = noise_of(box, plan_.seed(noise_broad), 6),
          cleft = noise_of(box, plan_.seed(noise_cleft), 7);
  const std::int32_t cell_eosin = tumor ? 82 : 76, cell_haematoxylin = tumor ? 38 : 24;
  std::vector<std::int16_t> bumps(static_cast<std::size_t>(box.width) * static_cast<std::size_t>(box.height));
  std::size_t at = 0;
  for (std::int32_t y = box.y; y < box.y + box.height; ++y) {
    const std::int32_t *const wall_row = wall.row(y), *const lumen_row = lumen.row(y), *const fibre_row = fibres.row(y);
    const std::int32_t *const fine_row = fine.row(y), *const middle_row = middle.row(y),
                              *const broad_row = broad.row(y);
    const std::int32_t *const cleft_row = cleft.row(y), *const speck_row = speck.row(y);
    for (std::int32_t x = 0; x < box.width; ++x, ++at) {
      const std::int32_t small = fine_row[x], medium = middle_row[x], large = broad_row[x];
      const std::int32_t dots = speck_row[x] >> 4;
      bumps[at] = static_cast<std::int16_t>(small + medium / 2);
      const std::int32_t from_wall = wall_row[x] + (small >> 4) + (medium >> 3);
      const std::int32_t from_lumen = lumen_row[x] + (small >> 3) + (medium >> 2);
      const std::int32_t phase = (fibre_row[x] + medium + (small >> 2)) & 255;
      const std::int32_t fibre = (phase < 128 ? phase : 255 - phase) - 64;
      const std::int32_t bundle =
          std::max(150 + large - cleft_row[x] / 2, 30);  // some bundles are thick, others are hardly visible
      std::int32_t e =
          92 + (large >> 3) - (cleft_row[x] >> 4) + ((fibre * bundle) >> 8) + (small >> 3) + (medium >> 5) + dots;
      std::int32_t h = 10 + (large >> 5) + (tumor ? 8 : 0);
      // Gaps in the stroma run along its fibres.
      const std::int32_t gap = covered(cleft_row[x] + (medium >> 2) + (large >> 2) + fibre / 3 - 205, 5);
      e = mixed(e, 4, gap);
      h = mixed(h, 2, gap);
      const std::int32_t cell = covered(-from_wall, 4);
      const std::int32_t mucin = tumor ? 0 : std::clamp(220 - from_lumen / 2, 0, 160);  // paler towards the lumen
      e = mixed(e, mixed(cell_eosin, 30, mucin) + (medium >> 4) + (small >> 4) + (large >> 5) + dots, cell);
      h = mixed(h, mixed(cell_haematoxylin, 22, mucin) + (medium >> 4) + (small >> 5) + dots / 2, cell);
      const std::int32_t open = covered(-from_lumen, 4);
      e = mixed(e, std::max(3, (large + medium - 190) >> 2), open);  // some lumina have secretion inside
      h = mixed(h, 2, open);
      haematoxylin[at] = static_cast<std::int16_t>(h);
      eosin[at] = static_cast<std::int16_t>(e);
    }
  }
  for (const Nucleus& nucleus : plan_.nuclei(box, extent))
    draw_nucleus(nucleus, box, bumps.data(), haematoxylin, eosin);
  if (extent == TissueExtent::everywhere) return;
  at = 0;
  for (std::int32_t y = box.y; y < box.y + box.height; ++y) {
    const std::int32_t* const inside_row = inside.row(y);
    for (std::int32_t x = 0; x < box.width; ++x, ++at) {
      const std::int32_t share = covered(inside_row[x] + (bumps[at] >> 3), 4);
      haematoxylin[at] = static_cast<std::int16_t>(haematoxylin[at] * share >> 8);
      eosin[at] = static_cast<std::int16_t>(eosin[at] * share >> 8);
    }
  }
}

void DrawnTissue::develop(const PixelBox& box, const std::int16_t* haematoxylin, const std::int16_t* eosin,
                          std::uint8_t* rgb) const {
  const std::uint32_t seed = plan_.seed(noise_grain);
  for (std::int32_t y = box.y; y < box.y + box.height; ++y)
    for (std::int32_t x = box.x; x < box.x + box.width; ++x, ++haematoxylin, ++eosin, rgb += 3) {
      const std::uint32_t dice = hash_of(seed, x >> 2, y) >> ((x & 3) * 8);
      const auto grain = static_cast<std::int32_t>((dice & 15) + ((dice >> 4) & 15)) - 15;
      const std::int32_t stained = std::min(*haematoxylin + *eosin, 64);
      const std::int32_t noise = grain * (16 + stained * 2) / 128;
      const auto h = static_cast<std::size_t>(std::clamp<std::int32_t>(*haematoxylin, 0, 255));
      const auto e = static_cast<std::size_t>(std::clamp<std::int32_t>(*eosin, 0, 255));
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const std::uint32_t light = through_haematoxylin_[h][channel] * through_eosin_[e][channel];
        rgb[channel] =
            static_cast<std::uint8_t>(std::clamp(static_cast<std::int32_t>(light / (255u * 65536u)) + noise, 0, 255));
      }
    }
}

}  // namespace make_slides
