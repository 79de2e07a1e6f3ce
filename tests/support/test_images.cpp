// SPDX-License-Identifier: Apache-2.0
#include "support/test_images.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace penstock_test {

using penstock::Box;
using penstock::ImageShape;
using penstock::Pixels;

namespace {

std::size_t bytes_of(const ImageShape& s) {
  return static_cast<std::size_t>(s.height) * static_cast<std::size_t>(s.width) * s.pixel_bytes();
}

// A triangle wave, 0 to 255, one place after the other.
class Wave {
 public:
  Wave(int at, int period) : period_(period), phase_(at % period) {}
  int next() {
    const int height = (phase_ * 2 < period_ ? phase_ : period_ - phase_) * 510 / period_;
    if (++phase_ == period_) phase_ = 0;
    return height;
  }

 private:
  int period_, phase_;
};

}  // namespace

Image::Image(ImageShape s) : shape(s), pixels(bytes_of(s)) {}
Pixels Image::view() const { return view({0, 0, shape.height, shape.width}); }
Pixels Image::view(const Box& box) const {
  const std::size_t first =
      (static_cast<std::size_t>(box.top) * static_cast<std::size_t>(shape.width) + static_cast<std::size_t>(box.left)) *
      shape.pixel_bytes();
  return {pixels.data() + first,
          static_cast<std::ptrdiff_t>(static_cast<std::size_t>(shape.width) * shape.pixel_bytes()),
          {box.height, box.width, shape.channels, shape.element}};
}

Image photo(ImageShape shape, std::uint64_t seed, int noise) {
  Image image(shape);
  Numbers numbers(seed + 1);
  const int shift = numbers.below(500), edge = numbers.from(10, 60);
  for (std::int32_t y = 0; y < shape.height; ++y) {
    const int down = Wave(3 * y + shift, 210).next();
    std::vector<Wave> across;
    for (std::int32_t c = 0; c < shape.channels; ++c) across.emplace_back(2 * y + shift * (c + 1), 90 + 40 * c);
    for (std::int32_t x = 0; x < shape.width; ++x) {
      const bool inside = (x / edge + y / (edge + 7)) % 3 == 0;
      for (std::int32_t c = 0; c < shape.channels; ++c) {
        const int base = (across[static_cast<std::size_t>(c)].next() + down) / 2;
        int value = (inside ? 255 - base : base) + numbers.from(-noise, noise);
        value = value < 0 ? 0 : value > 255 ? 255 : value;
        image.at(y, x, c) = static_cast<std::uint8_t>(value);
      }
    }
  }
  return image;
}

Image static_noise(ImageShape shape, std::uint64_t seed) {
  Image image(shape);
  Numbers numbers(seed + 77);
  for (auto& value : image.pixels) value = static_cast<std::uint8_t>(numbers.next());
  return image;
}

Image copied(const Pixels& pixels) {
  Image image(pixels.shape);
  const std::size_t row = image.pixels.size() / static_cast<std::size_t>(pixels.shape.height);
  for (std::int32_t y = 0; y < pixels.shape.height; ++y)
    std::memcpy(image.pixels.data() + static_cast<std::size_t>(y) * row, pixels.data + y * pixels.stride, row);
  return image;
}

Image cut(const Image& image, const Box& box) { return copied(image.view(box)); }

std::byte* TestScratch::allocate(std::size_t bytes) {
  auto* block = static_cast<std::byte*>(::operator new(bytes + 1, std::align_val_t(64)));
  blocks_.emplace_back(block);
  std::memset(block, 0xa5, bytes);
  bytes_ += bytes;
  return block;
}

void TestScratch::Free::operator()(std::byte* p) const { ::operator delete(p, std::align_val_t(64)); }

}  // namespace penstock_test
