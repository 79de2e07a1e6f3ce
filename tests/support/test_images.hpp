// SPDX-License-Identifier: Apache-2.0
// Images for tests, the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/extend/image_executor.hpp>

namespace penstock_test {

// An image that owns its pixels, contiguous.
struct Image {
  penstock::ImageShape shape;
  std::vector<std::uint8_t> pixels;

  explicit Image(penstock::ImageShape s);
  std::uint8_t& at(std::int32_t y, std::int32_t x, std::int32_t c) { return pixels[index(y, x, c)]; }
  std::uint8_t at(std::int32_t y, std::int32_t x, std::int32_t c) const { return pixels[index(y, x, c)]; }
  penstock::Pixels view() const;
  // The pixels of `box`, where they lie.
  penstock::Pixels view(const penstock::Box& box) const;
  friend bool operator==(const Image&, const Image&) = default;

 private:
  std::size_t index(std::int32_t y, std::int32_t x, std::int32_t c) const {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) + static_cast<std::size_t>(x)) *
               static_cast<std::size_t>(shape.channels) +
           static_cast<std::size_t>(c);
  }
};

// Numbers from a linear congruence; below(n) is good enough to choose test cases.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(next() % static_cast<std::uint32_t>(n)); }
  std::int32_t from(std::int32_t low, std::int32_t high) { return low + below(high - low + 1); }
  bool coin() { return below(2) == 1; }

 private:
  std::uint64_t state_;
};

// Like a photograph: smooth waves, edges and noise of +-`noise`.
Image photo(penstock::ImageShape shape, std::uint64_t seed = 0, int noise = 8);
// Independent random bytes: the hardest case for a filter.
Image static_noise(penstock::ImageShape shape, std::uint64_t seed = 0);
// A part of an image, copied.
Image cut(const Image& image, const penstock::Box& box);
// What a view shows, copied.
Image copied(const penstock::Pixels& pixels);

// Scratch of exactly what was asked for, filled with garbage: reading or writing after an end is seen by ASan.
class TestScratch final : public penstock::Scratch {
 public:
  std::byte* allocate(std::size_t bytes) override;
  // The most that was held.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> blocks_;
  std::size_t bytes_ = 0;
};

}  // namespace penstock_test
