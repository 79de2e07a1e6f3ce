// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/color_jitter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "color_rows.hpp"
#include "describe.hpp"
#include "jitter_stage.hpp"
#include "kernels.hpp"

namespace penstock {

using image::text;

namespace {

using Params = ColorJitter::Params;
using Operation = ColorJitter::Operation;

// Changes the pixels of an image block by block: splits a block into planes, changes the planes, and writes the block
// back.
class Blocks {
 public:
  Blocks(std::uint8_t* pixels, std::uint64_t count, std::int64_t channels)
      : rows_(image::color_rows()), split_(image::split_row()), pixels_(pixels), count_(count), gray_(channels == 1) {}

  // Carries out the operations. Returns the sum of the greys after them if `sums` is true, otherwise 0.
  std::uint64_t run(std::span<const Operation> operations, const Params& params, float mean, bool sums) {
    std::uint64_t sum = 0;
    const std::size_t channels = gray_ ? 1 : 3;
    for (std::uint64_t first = 0; first < count_; first += image::color_block) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(image::color_block, count_ - first));
      std::uint8_t* at = pixels_ + first * channels;
      if (gray_) {
        std::memcpy(planes_[0], at, count);
      } else {
        split_(at, count, 3, planes_[0], image::color_block);
      }
      for (const Operation operation : operations) change(operation, params, mean, count);
      if (sums) sum += sum_of(count);
      if (operations.empty()) continue;
      if (gray_) {
        std::memcpy(at, planes_[0], count);
      } else {
        rows_.merge({planes_[0], planes_[1], planes_[2]}, count, at);
      }
    }
    return sum;
  }

 private:
  void change(Operation operation, const Params& params, float mean, std::size_t count) {
    const image::ColorPlanes planes{planes_[0], planes_[1], planes_[2]};
    switch (operation) {
      case ColorJitter::brightness:
      case ColorJitter::contrast: {
        const bool bright = operation == ColorJitter::brightness;
        for (std::size_t c = 0; c < (gray_ ? 1 : 3); ++c)
          rows_.blend(planes_[c], count, bright ? params.brightness : params.contrast, bright ? 0.0f : mean);
        return;
      }
      case ColorJitter::saturation:
        if (!gray_) rows_.blend_gray(planes, count, params.saturation);
        return;
      case ColorJitter::hue:
        if (!gray_) rows_.turn_hue(planes, count, 6 * params.hue);
        return;
    }
  }

  std::uint64_t sum_of(std::size_t count) {
    if (gray_) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < count; ++i) sum += planes_[0][i];
      return sum;
    }
    for (auto& plane : planes_) std::memset(plane + count, 0, std::min<std::size_t>(64, image::color_block - count));
    return rows_.sum_gray({planes_[0], planes_[1], planes_[2]}, count);
  }

  image::ColorRowKernels rows_;
  image::SplitRow split_;
  std::uint8_t* pixels_;
  std::uint64_t count_;
  bool gray_;
  alignas(64) std::uint8_t planes_[3][image::color_block] = {};
};

// Kernels on a GPU read Params as the ColorChange with which a ColorDraw begins.
static_assert(offsetof(image::ColorDraw, change) == 0 && sizeof(Params) == sizeof(ColorChange) &&
              offsetof(Params, contrast) == offsetof(ColorChange, factors) + sizeof(float) &&
              offsetof(Params, saturation) == offsetof(ColorChange, factors) + 2 * sizeof(float) &&
              offsetof(Params, hue) == offsetof(ColorChange, turns) &&
              offsetof(Params, order) == offsetof(ColorChange, order));
static_assert(ColorJitter::brightness == static_cast<int>(ColorChange::brightness) &&
              ColorJitter::contrast == static_cast<int>(ColorChange::contrast) &&
              ColorJitter::saturation == static_cast<int>(ColorChange::saturation) &&
              ColorJitter::hue == static_cast<int>(ColorChange::hue));

bool changes(Operation operation, const Params& params) {
  switch (operation) {
    case ColorJitter::brightness:
      return params.brightness != 1;
    case ColorJitter::contrast:
      return params.contrast != 1;
    case ColorJitter::saturation:
      return params.saturation != 1;
    case ColorJitter::hue:
      break;
  }
  return params.hue != 0;
}

}  // namespace

ColorJitter::ColorJitter(const ColorJitterOptions& options) : options_(options) {
  const auto require = [](const char* name, double value, double most) {
    if (!(value >= 0 && value <= most))
      throw Error(Errc::invalid_argument,
                  std::string("color_jitter: ") + name + " " + text(value) + " is not 0 to " + text(most));
  };
  require("brightness", options.brightness, 100);
  require("contrast", options.contrast, 100);
  require("saturation", options.saturation, 100);
  require("hue", options.hue, 0.5);
}

ColorJitter::Params ColorJitter::draw(Rng& rng) const {
  Params params;
  for (std::size_t i = 3; i > 0; --i) std::swap(params.order[i], params.order[rng.below(i + 1)]);
  const auto factor = [&rng](double range) {
    return static_cast<float>(rng.uniform(std::max(0.0, 1 - range), 1 + range));
  };
  params.brightness = factor(options_.brightness);
  params.contrast = factor(options_.contrast);
  params.saturation = factor(options_.saturation);
  params.hue = static_cast<float>(rng.uniform(-options_.hue, options_.hue));
  return params;
}

void ColorJitter::apply(const Params& params, View<std::uint8_t, 3> image) {
  const std::int64_t channels = image.extent(2);
  if (channels != 1 && channels != 3)
    throw Error(Errc::unsupported,
                "colours change in images of 1 or 3 channels; this one has " + std::to_string(channels));
  const auto count = static_cast<std::uint64_t>(image.extent(0)) * static_cast<std::uint64_t>(image.extent(1));
  std::array<Operation, 4> operations{};
  std::size_t n = 0, before_contrast = 4;
  for (const Operation operation : params.order) {
    if (!changes(operation, params)) continue;
    if (operation == contrast) before_contrast = n;
    operations[n++] = operation;
  }
  if (n == 0 || count == 0) return;
  Blocks blocks(image.data(), count, channels);
  const std::span<const Operation> all(operations.data(), n);
  if (before_contrast == 4) {
    blocks.run(all, params, 0, false);
    return;
  }
  // Contrast needs the mean grey of the whole image. So the operations before contrast are done on all pixels first.
  const std::uint64_t sum = blocks.run(all.first(before_contrast), params, 0, true);
  const auto mean = static_cast<float>(static_cast<double>(sum) / static_cast<double>(count));
  blocks.run(all.subspan(before_contrast), params, mean, false);
}

void ColorJitter::check(const Shape& image) const {
  if (image[2] != 1 && image[2] != 3 && image[2] != dynamic)
    throw Error(Errc::schema_mismatch, "color_jitter takes images of 1 or 3 channels; these are " + image.to_string());
}

std::string ColorJitter::describe() const {
  return "brightness " + text(options_.brightness) + ", contrast " + text(options_.contrast) + ", saturation " +
         text(options_.saturation) + ", hue " + text(options_.hue);
}

Stage color_jitter(std::string field, const ColorJitterOptions& options) {
  return image::jitter_stage<image::ColorDraw>(std::move(field), "color_jitter", ColorJitter(options),
                                               image::color_jitter_on_gpu);
}

}  // namespace penstock
