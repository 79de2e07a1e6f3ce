// SPDX-License-Identifier: Apache-2.0
// How encode_png compresses: the rows that it makes, the way that it chooses, sizes, chunks and memory.
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <penstock/transforms/encode_png.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/png/encode/plain_encoder.hpp"
#include "transforms/codec/png/png_files.hpp"
#include "transforms/codec/png/whole/rule.hpp"
#include "transforms/image/targets.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr EncodePngOptions fast{EncodePngOptions::fast}, normal{EncodePngOptions::normal},
    small{EncodePngOptions::small};

struct Picture {
  std::string name;
  Image image;
};

// Regions with numbers below `most`.
Image labels(std::int32_t side, int most, DType element) {
  Image image({side, side, 1, element});
  Numbers numbers(9);
  const std::size_t each = size_of(element);
  for (int region = 0; region < 150; ++region) {
    const std::int32_t y = numbers.below(side), x = numbers.below(side), radius = numbers.from(4, 30);
    const int number = numbers.below(most);
    for (std::int32_t row = std::max(0, y - radius); row < std::min(side, y + radius); ++row)
      for (std::int32_t column = std::max(0, x - radius); column < std::min(side, x + radius); ++column)
        if ((row - y) * (row - y) + (column - x) * (column - x) < radius * radius) {
          const auto at = static_cast<std::size_t>(row * side + column) * each;
          image.pixels[at] = static_cast<std::uint8_t>(number);
          if (each == 2) image.pixels[at + 1] = static_cast<std::uint8_t>(number >> 8);
        }
  }
  return image;
}

// Values that change slowly and without noise.
Image smooth(std::int32_t side) {
  Image image({side, side, 1});
  for (std::int32_t y = 0; y < side; ++y)
    for (std::int32_t x = 0; x < side; ++x) {
      const std::int32_t dy = y - side / 3, dx = x - side / 2;
      image.at(y, x, 0) = static_cast<std::uint8_t>((dy * dy + dx * dx) * 200 / (side * side) + y * 40 / side);
    }
  return image;
}

// The same few letters again and again.
Image drawing(Size size) {
  Image image({size.height, size.width, 3});
  std::ranges::fill(image.pixels, std::uint8_t{250});
  Numbers numbers(3);
  for (std::int32_t top = 2; top + 12 < size.height; top += 14)
    for (std::int32_t left = 2; left + 9 < size.width; left += 10) {
      Numbers letter(static_cast<std::uint64_t>(numbers.below(20)));
      for (std::int32_t y = 0; y < 12; ++y)
        for (std::int32_t x = 0; x < 8; ++x)
          if (letter.coin())
            for (std::int32_t c = 0; c < 3; ++c) image.at(top + y, left + x, c) = static_cast<std::uint8_t>(20 + c);
    }
  return image;
}

// A photograph with 16 bits per value. The lower `noisy` bits are noise.
Image wide_photo(ImageShape shape, int noisy) {
  const Image narrow = photo({shape.height, shape.width, shape.channels}, 5, 2);
  Image image(shape);
  Numbers numbers(8);
  for (std::size_t i = 0; i < narrow.pixels.size(); ++i) {
    image.pixels[2 * i] = static_cast<std::uint8_t>(numbers.below(1 << noisy));
    image.pixels[2 * i + 1] = narrow.pixels[i];
  }
  return image;
}

std::vector<Picture> pictures() {
  return {{"photograph", photo({260, 300, 3})},
          {"photograph with little noise", photo({260, 300, 3}, 2, 2)},
          {"photograph with much noise", photo({260, 300, 3}, 3, 30)},
          {"photograph with opacity", photo({200, 200, 4})},
          {"grey photograph", photo({300, 300, 1}, 4, 3)},
          {"wide photograph", wide_photo({200, 200, 1, DType::u16}, 8)},
          {"wide photograph in colour", wide_photo({150, 200, 3, DType::u16}, 4)},
          {"noise", static_noise({100, 100, 3})},
          {"mask", labels(400, 8, DType::u8)},
          {"wide labels", labels(400, 5000, DType::u16)},
          {"smooth", smooth(400)},
          {"drawing", drawing({300, 400})}};
}

bool is_plain(const std::vector<std::uint8_t>& rows, const ImageShape& shape) {
  const std::size_t bytes = 1 + static_cast<std::size_t>(shape.width) * shape.pixel_bytes();
  for (std::size_t at = 0; at < rows.size(); at += bytes)
    if (rows[at] != 0) return false;
  return true;
}

// Noise in which each piece of 200 bytes comes twice, not one above the other.
Image repeated_noise(const ImageShape& shape) {
  Image image = static_noise(shape, 6);
  for (std::size_t at = 0; at + 20'200 < image.pixels.size(); at += 400)
    std::copy_n(image.pixels.begin() + static_cast<std::ptrdiff_t>(at), 200,
                image.pixels.begin() + static_cast<std::ptrdiff_t>(at + (at % 20'000 < 10'000 ? 10'100 : 200)));
  return image;
}

}  // namespace

TEST_CASE("rows have the filter with the least sum, or none, with every instruction set") {
  for (const DType element : {DType::u8, DType::u16})
    for (std::int32_t channels = 1; channels <= 4; ++channels)
      for (const Size size : {Size{1, 1}, Size{1, 131}, Size{140, 1}, Size{37, 65}, Size{90, 250}}) {
        Image image = photo({size.height, size.width, channels, element}, 2, 3);
        if (element == DType::u16) image = wide_photo(image.shape, 2);
        CAPTURE(size.height, size.width, channels, element == DType::u16);
        for (const EncodePngOptions& options : {fast, normal, small}) {
          const Bytes made = encode_png(image.view(), options);
          const std::vector<std::uint8_t> rows = inflated_rows(made);
          CHECK((rows == filtered_rows(image, is_plain(rows, image.shape))));
          if (options.effort != small.effort)
            on_every_target([&] { CHECK((encode_png(image.view(), options) == made)); });
        }
      }
}

TEST_CASE("PNGs are not larger than libpng's") {
  std::size_t ours[3] = {}, by_libpng = 0;
  for (const auto& [name, image] : pictures()) {
    const std::size_t limit = bytes_by_libpng(image);
    by_libpng += limit;
    std::size_t bytes[3];
    for (const EncodePngOptions& options : {fast, normal, small})
      ours[options.effort] += bytes[options.effort] = encode_png(image.view(), options).size();
    const auto of_limit = [&](const EncodePngOptions& options) {
      return static_cast<double>(bytes[options.effort]) / static_cast<double>(limit);
    };
    std::printf("%s: %zu bytes by libpng; fast %.3f, normal %.3f, small %.3f\n", name.c_str(), limit, of_limit(fast),
                of_limit(normal), of_limit(small));
    CAPTURE(name, limit, bytes[0], bytes[1], bytes[2]);
    // libdeflate finds less than zlib in pictures that are smooth and have no noise.
    CHECK(of_limit(normal) < (name == "smooth" ? 1.15 : 1.04));
    CHECK(of_limit(fast) < 1.35);
    CHECK(of_limit(small) < std::min(1.02, of_limit(normal) + 0.01));
  }
  CHECK(ours[EncodePngOptions::normal] < by_libpng);
  CHECK(ours[EncodePngOptions::small] < ours[EncodePngOptions::normal]);
  CHECK(ours[EncodePngOptions::normal] < ours[EncodePngOptions::fast]);
}

TEST_CASE("photographs are compressed as runs, others by libdeflate, with filters or without") {
  for (const auto& [name, image] : pictures()) {
    CAPTURE(name);
    const Bytes made = encode_png(image.view());
    const bool plain = is_plain(inflated_rows(made), image.shape);
    CHECK(plain == (name == "mask" || name == "wide labels" || name == "drawing"));
    // Runs do not depend on libdeflate's level.
    CHECK((made == encode_png(image.view(), fast)) == (!plain && name != "smooth"));
  }
}

TEST_CASE("the same pixels make the same PNG, whatever was encoded before or is at the same time") {
  const std::vector<Picture> all = pictures();
  for (const EncodePngOptions& options : {fast, normal}) {
    std::vector<Bytes> expected;
    for (const Picture& picture : all) expected.push_back(encode_png(picture.image.view(), options));
    const auto encoder = png_encoder(options);
    std::vector<std::thread> threads;
    std::vector<std::vector<Bytes>> made(3);
    for (std::size_t t = 0; t < made.size(); ++t)
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < 2 * all.size(); ++i)
          made[t].push_back(encoded_bytes(*encoder, all[(i + 5 * t) % all.size()].image.view()));
      });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < made.size(); ++t)
      for (std::size_t i = 0; i < made[t].size(); ++i) CHECK((made[t][i] == expected[(i + 5 * t) % all.size()]));
  }
}

TEST_CASE("a large PNG has its pixels in chunks of a mebibyte, a small one in one chunk") {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  // By runs and by libdeflate.
  for (const Image& image : {static_noise({1100, 1000, 3}), repeated_noise({2500, 1500, 1})}) {
    std::vector<std::size_t> chunks;
    const Bytes made = encode_png(image.view());
    CHECK(inflated_rows(made, &chunks).size() > image.pixels.size());
    CAPTURE(image.shape.height, made.size());
    REQUIRE(chunks.size() > 1);
    CHECK(std::all_of(chunks.begin(), chunks.end() - 1, [&](std::size_t bytes) { return bytes == mebibyte; }));
    CHECK((chunks.back() > 0 && chunks.back() <= mebibyte));
    std::string what;
    const PngOptions options{.color = PngOptions::as_stored};
    CHECK(check_png_rule(made, options, {0, 0, image.shape.height, image.shape.width}, true, what) == PngOutcome::same);
    CHECK((made.size() < image.pixels.size() * 9 / 10) == (image.shape.channels == 1));
  }
  for (const auto& [name, image] : pictures()) {
    CAPTURE(name);
    std::vector<std::size_t> chunks;
    inflated_rows(encode_png(image.view()), &chunks);
    CHECK(chunks.size() == 1);
  }
}

TEST_CASE("an image of more than 64 MiB is compressed as runs, with memory for a few rows") {
  const auto bytes_of = [](const Image& image, const EncodePngOptions& options, std::size_t& memory) {
    struct File final : EncodedFile {
      void append(std::span<const std::byte> more) override { bytes.insert(bytes.end(), more.begin(), more.end()); }
      Bytes bytes;
    } file;
    TestScratch scratch;
    png_encoder(options)->encode(image.view(), file, scratch);
    memory = scratch.bytes();
    return file.bytes;
  };
  // Rows of 8,192 bytes with the filter's, in 8,192 rows: 64 MiB. Noise that repeats has no runs.
  Image image({8192, 8191, 1});
  const Image noise = static_noise({1, 997, 1});
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = noise.pixels[i % 997];
  std::size_t memory = 0;
  const Bytes at_limit = bytes_of(image, normal, memory);
  CHECK(memory > std::size_t{128} << 20);
  CHECK(memory < std::size_t{136} << 20);
  Image more({8193, 8191, 1});
  std::copy(image.pixels.begin(), image.pixels.end(), more.pixels.begin());
  const Bytes above_limit = bytes_of(more, normal, memory);
  CHECK(memory < std::size_t{2} << 20);
  CHECK(above_limit.size() > 20 * at_limit.size());
  CHECK((above_limit == bytes_of(more, fast, memory)));
}

}  // namespace PENSTOCK_TEST_FILE
