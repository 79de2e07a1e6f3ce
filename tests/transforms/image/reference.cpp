// SPDX-License-Identifier: Apache-2.0
#include "transforms/image/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>

#include <penstock/transforms/image/stage.hpp>

namespace penstock_test {

using penstock::ImageOp;
using penstock::Size;

namespace {

struct Taps {
  int first = 0;
  std::vector<double> exact;          // sums to 1
  std::vector<std::int64_t> weights;  // sums to `one`
};

Taps taps_of(int in, int out, int i, std::int64_t one) {
  const double scale = static_cast<double>(in) / out, support = std::max(1.0, scale), center = (i + 0.5) * scale;
  Taps taps;
  taps.first = -1;
  double total = 0;
  for (int k = 0; k < in; ++k) {
    const double weight = 1 - std::abs(k + 0.5 - center) * (1 / support);
    if (weight <= 0) continue;
    if (taps.first < 0) taps.first = k;
    taps.exact.push_back(weight);
    total += weight;
  }
  double sum = 0;
  std::int64_t before = 0;
  for (double& weight : taps.exact) {
    sum += weight;
    const auto now = static_cast<std::int64_t>(std::floor(sum * (static_cast<double>(one) / total) + 0.5));
    taps.weights.push_back(now - before);
    before = now;
    weight /= total;
  }
  taps.weights.back() += one - before;
  return taps;
}

// How many taps an axis may have before 32-bit weights are used. Leading and trailing zero weights count as well.
bool wide(int in, int out) {
  return std::min<double>(in, std::floor(2 * std::max(1.0, static_cast<double>(in) / out)) + 2) > 32;
}

std::uint8_t vertical(const std::vector<std::int64_t>& values, const Taps& taps, bool is_wide) {
  std::int64_t sum = 0, count = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::int64_t weight = is_wide ? taps.weights[k] : std::min<std::int64_t>(65535, taps.weights[k]);
    sum += is_wide ? values[k] * weight : values[k] * weight >> 8;
  }
  if (is_wide) return static_cast<std::uint8_t>((sum + (1 << 21)) >> 22);
  // Taps between the first and the last that count.
  std::size_t first = 0, last = values.size();
  while (taps.weights[first] == 0) ++first;
  while (taps.weights[last - 1] == 0) --last;
  count = static_cast<std::int64_t>(last - first);
  return static_cast<std::uint8_t>((sum + 128 + count / 2) >> 8);
}

}  // namespace

Image reference_resize(const Image& image, Size size) {
  if (size == image.shape.size()) return image;
  const int channels = image.shape.channels, height = image.shape.height, width = image.shape.width;
  Image middle({size.height, width, channels});
  const bool wide_y = wide(height, size.height);
  for (int y = 0; y < size.height; ++y) {
    const Taps taps = taps_of(height, size.height, y, wide_y ? 1 << 22 : 65536);
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        std::vector<std::int64_t> values;
        for (std::size_t k = 0; k < taps.weights.size(); ++k)
          values.push_back(image.at(taps.first + static_cast<int>(k), x, c));
        middle.at(y, x, c) = vertical(values, taps, wide_y);
      }
    }
  }
  Image result({size.height, size.width, channels});
  const bool wide_x = wide(width, size.width);
  for (int x = 0; x < size.width; ++x) {
    const Taps taps = taps_of(width, size.width, x, wide_x ? 1 << 22 : 16384);
    for (int y = 0; y < size.height; ++y) {
      for (int c = 0; c < channels; ++c) {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < taps.weights.size(); ++k)
          sum += taps.weights[k] * middle.at(y, taps.first + static_cast<int>(k), c);
        result.at(y, x, c) = static_cast<std::uint8_t>(wide_x ? (sum + (1 << 21)) >> 22 : (sum + 8192) >> 14);
      }
    }
  }
  return result;
}

std::vector<double> exact_resize(const Image& image, Size size) {
  const int channels = image.shape.channels, height = image.shape.height, width = image.shape.width;
  std::vector<double> middle(static_cast<std::size_t>(size.height) * static_cast<std::size_t>(width * channels));
  for (int y = 0; y < size.height; ++y) {
    const Taps taps = taps_of(height, size.height, y, 65536);
    for (int j = 0; j < width * channels; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < taps.exact.size(); ++k)
        sum += taps.exact[k] * image.at(taps.first + static_cast<int>(k), j / channels, j % channels);
      middle[static_cast<std::size_t>(y * width * channels + j)] = sum;
    }
  }
  std::vector<double> result(static_cast<std::size_t>(size.height) * static_cast<std::size_t>(size.width * channels));
  for (int x = 0; x < size.width; ++x) {
    const Taps taps = taps_of(width, size.width, x, 65536);
    for (int y = 0; y < size.height; ++y) {
      for (int c = 0; c < channels; ++c) {
        double sum = 0;
        for (std::size_t k = 0; k < taps.exact.size(); ++k)
          sum += taps.exact[k] *
                 middle[static_cast<std::size_t>((y * width + taps.first + static_cast<int>(k)) * channels + c)];
        result[static_cast<std::size_t>((y * size.width + x) * channels + c)] = sum;
      }
    }
  }
  return result;
}

Image reference_nearest(const Image& image, Size size) {
  // The input pixel that covers the centre: the last one that begins at or before it.
  const auto source = [](int i, int in, int out) {
    std::int64_t k = 0;
    while (2 * (k + 1) * out <= std::int64_t{2 * i + 1} * in) ++k;
    return static_cast<int>(k);
  };
  Image result({size.height, size.width, image.shape.channels});
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int c = 0; c < image.shape.channels; ++c)
        result.at(y, x, c) =
            image.at(source(y, image.shape.height, size.height), source(x, image.shape.width, size.width), c);
  return result;
}

Image reference_flip_horizontal(const Image& image) {
  Image result(image.shape);
  for (int y = 0; y < image.shape.height; ++y)
    for (int x = 0; x < image.shape.width; ++x)
      for (int c = 0; c < image.shape.channels; ++c) result.at(y, x, c) = image.at(y, image.shape.width - 1 - x, c);
  return result;
}

Image reference_flip_vertical(const Image& image) {
  Image result(image.shape);
  for (int y = 0; y < image.shape.height; ++y)
    for (int x = 0; x < image.shape.width; ++x)
      for (int c = 0; c < image.shape.channels; ++c) result.at(y, x, c) = image.at(image.shape.height - 1 - y, x, c);
  return result;
}

Image reference_rot90(const Image& image) {
  Image result({image.shape.width, image.shape.height, image.shape.channels});
  for (int y = 0; y < result.shape.height; ++y)
    for (int x = 0; x < result.shape.width; ++x)
      for (int c = 0; c < image.shape.channels; ++c) result.at(y, x, c) = image.at(x, image.shape.width - 1 - y, c);
  return result;
}

Image reference_pad(const Image& image, const penstock::Padding& padding, bool label) {
  const int height = image.shape.height, width = image.shape.width;
  Image result({padding.top + height + padding.bottom, padding.left + width + padding.right, image.shape.channels});
  for (int y = 0; y < result.shape.height; ++y)
    for (int x = 0; x < result.shape.width; ++x)
      for (int c = 0; c < image.shape.channels; ++c) {
        int from_y = y - padding.top, from_x = x - padding.left;
        const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
        if (!inside && padding.mode == penstock::Padding::Mode::constant) {
          result.at(y, x, c) =
              static_cast<std::uint8_t>(label ? padding.label : padding.fill[static_cast<std::size_t>(c)]);
          continue;
        }
        if (from_y < 0) from_y = -from_y;
        if (from_x < 0) from_x = -from_x;
        if (from_y >= height) from_y = 2 * (height - 1) - from_y;
        if (from_x >= width) from_x = 2 * (width - 1) - from_x;
        result.at(y, x, c) = image.at(from_y, from_x, c);
      }
  return result;
}

Image reference_run(const Image& source, const ImageOp& op) {
  Image image = cut(source, op.box);
  if (op.mirror_x) image = reference_flip_horizontal(image);
  if (op.mirror_y) image = reference_flip_vertical(image);
  image = cut(op.filter == penstock::Filter::nearest ? reference_nearest(image, op.resized)
                                                     : reference_resize(image, op.resized),
              op.kept);
  image = reference_pad(image, op.margin, false);
  // A transpose is a turn that is then flipped back.
  if (op.transpose) image = reference_flip_vertical(reference_rot90(image));
  if (op.flip_x) image = reference_flip_horizontal(image);
  if (op.flip_y) image = reference_flip_vertical(image);
  return image;
}

std::vector<std::byte> execute(const Image& source, const ImageOp& op) {
  TestScratch scratch;
  constexpr std::size_t around = 1024;
  constexpr std::byte untouched{0xa5};
  const std::size_t bytes = op.tensor_shape().elements() * penstock::size_of(op.result_dtype());
  std::vector<std::byte> room(bytes + 2 * around, untouched);
  std::byte* const out = room.data() + around;
  penstock::image_executor().run(source.view(op.box), op, out, scratch);
  const auto outside = std::ranges::count(std::span(room.data(), around), untouched) +
                       std::ranges::count(std::span(out + bytes, around), untouched);
  if (static_cast<std::size_t>(outside) != 2 * around) throw std::logic_error("it was written outside of the result");
  return {out, out + bytes};
}

Image execute_u8(const Image& source, const ImageOp& op) {
  Image image(op.shape());
  const std::vector<std::byte> bytes = execute(source, op);
  std::memcpy(image.pixels.data(), bytes.data(), bytes.size());
  return image;
}

}  // namespace penstock_test
