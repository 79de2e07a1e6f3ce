// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <penstock/extend/host_device.hpp>

namespace penstock {

/// The memory layout of `ColorJitter::Params`, for the host and for kernels. If all bytes are 0, as in a row with mask
/// 0, brightness is 0, and the image becomes black.
struct ColorChange {
  enum : std::uint8_t { brightness, contrast, saturation, hue };
  float factors[3] = {1, 1, 1};  ///< factors for brightness, contrast, saturation
  float turns = 0;               ///< shift of the hue, in turns of the colour circle
  /// The operations, in the order in which they are done.
  std::uint8_t order[4] = {brightness, contrast, saturation, hue};
};

/// The values of a pixel: R, G and B, or only a grey.
struct ColorPixel {
  /// The values of the channels.
  std::uint8_t of[3];
};

/// The arithmetic of `ColorJitter`, with the same bits, for single pixels. The comment of ColorJitter has the formulas.
namespace color {

/// Returns whether the operation changes anything.
PENSTOCK_HOST_DEVICE inline bool changes(const ColorChange& change, std::uint8_t operation) noexcept {
  return operation == ColorChange::hue ? change.turns != 0 : change.factors[operation] != 1;
}

/// Returns the index of contrast in the order, or 4 if contrast changes nothing. Contrast needs the mean of all greys.
PENSTOCK_HOST_DEVICE inline int place_of_contrast(const ColorChange& change) noexcept {
  for (int i = 0; i < 4; ++i)
    if (change.order[i] == ColorChange::contrast && changes(change, ColorChange::contrast)) return i;
  return 4;
}

/// Returns the nearest whole number from 0 to 255; halves are rounded up.
PENSTOCK_HOST_DEVICE inline std::uint8_t rounded(float value) noexcept {
  const float inside = value < 0 ? 0 : value > 255 ? 255 : value;
  return static_cast<std::uint8_t>(static_cast<std::int32_t>(exact::sum(inside, 0.5f)));
}

/// Returns `toward` + `factor` x (`value` - `toward`), rounded.
PENSTOCK_HOST_DEVICE inline std::uint8_t blended(std::uint8_t value, float toward, float factor) noexcept {
  return rounded(exact::sum(toward, exact::product(factor, exact::sum(static_cast<float>(value), -toward))));
}

/// Returns the grey of a pixel, with the weights 0.299, 0.587 and 0.114 as integers.
PENSTOCK_HOST_DEVICE inline std::uint32_t gray(const ColorPixel& pixel, int channels) noexcept {
  if (channels == 1) return pixel.of[0];
  return (19595u * pixel.of[0] + 38470u * pixel.of[1] + 7471u * pixel.of[2] + 32768u) >> 16;
}

/// Returns one channel of the colour with this hue whose largest channel is `most` and whose smallest channel is
/// `most` - `range`. `hue` and `ahead` are in sixths of the circle; `ahead` is 5 for R, 3 for G and 1 for B.
PENSTOCK_HOST_DEVICE inline std::uint8_t channel_of_hue(float hue, float ahead, float most, float range) noexcept {
  float k = exact::sum(hue, ahead);
  if (k >= 6) k = exact::sum(k, -6);
  const float other = exact::sum(4, -k), part = k < other ? k : other;
  const float share = part < 0 ? 0 : part > 1 ? 1 : part;
  return rounded(exact::sum(most, -exact::product(range, share)));
}

/// Returns the pixel with its hue turned by `sixths` sixths of the circle.
PENSTOCK_HOST_DEVICE inline ColorPixel turned(const ColorPixel& pixel, float sixths) noexcept {
  const float r = pixel.of[0], g = pixel.of[1], b = pixel.of[2];
  const float upper = g > b ? g : b, lower = g < b ? g : b;
  const float most = r > upper ? r : upper, range = exact::sum(most, -(r < lower ? r : lower));
  const bool red = most == r, green = most == g;
  const float between = red ? exact::sum(g, -b) : green ? exact::sum(b, -r) : exact::sum(r, -g);
  const float begin = red ? 0.0f : green ? 2.0f : 4.0f;
  float hue = exact::sum(exact::quotient(between, range == 0 ? 1 : range), exact::sum(begin, sixths));
  if (hue < 0) hue = exact::sum(hue, 6);
  if (hue >= 6) hue = exact::sum(hue, -6);
  return {
      {channel_of_hue(hue, 5, most, range), channel_of_hue(hue, 3, most, range), channel_of_hue(hue, 1, most, range)}};
}

/// Returns the pixel after one operation, which must change something. `mean` is the mean of the image's greys after
/// the operations that come before contrast.
PENSTOCK_HOST_DEVICE inline ColorPixel changed_once(ColorPixel pixel, int channels, const ColorChange& change,
                                                    std::uint8_t operation, float mean) noexcept {
  if (operation == ColorChange::hue) return channels == 3 ? turned(pixel, exact::product(6, change.turns)) : pixel;
  if (operation == ColorChange::saturation && channels != 3) return pixel;
  const float toward = operation == ColorChange::brightness ? 0.0f
                       : operation == ColorChange::contrast ? mean
                                                            : static_cast<float>(gray(pixel, channels));
  for (int c = 0; c < channels; ++c) pixel.of[c] = blended(pixel.of[c], toward, change.factors[operation]);
  return pixel;
}

/// Carries out the operations [first, last) of the order on several pixels, so that a GPU works on them together.
template <int count>
PENSTOCK_HOST_DEVICE inline void change_pixels(ColorPixel (&pixels)[count], int channels, const ColorChange& change,
                                               int first, int last, float mean) noexcept {
  for (int i = first; i < last; ++i) {
    const std::uint8_t operation = change.order[i];
    if (!changes(change, operation)) continue;
    for (ColorPixel& pixel : pixels) pixel = changed_once(pixel, channels, change, operation, mean);
  }
}

/// Returns the pixel after the operations [first, last) of the order.
PENSTOCK_HOST_DEVICE inline ColorPixel changed(ColorPixel pixel, int channels, const ColorChange& change, int first,
                                               int last, float mean) noexcept {
  ColorPixel pixels[] = {pixel};
  change_pixels(pixels, channels, change, first, last, mean);
  return pixels[0];
}

/// Returns the mean of `pixels` greys whose sum is `sum`.
PENSTOCK_HOST_DEVICE inline float mean_gray(std::uint64_t sum, std::uint64_t pixels) noexcept {
  return static_cast<float>(static_cast<double>(sum) / static_cast<double>(pixels));
}

}  // namespace color

}  // namespace penstock
