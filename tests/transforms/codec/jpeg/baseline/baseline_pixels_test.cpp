// SPDX-License-Identifier: Apache-2.0
// Pixels and coefficients of undamaged files are libjpeg's, and no such file is left to it.
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include <jpeglib.h>

#include "codec/jpeg/baseline/scan_walk.hpp"
#include "codec/jpeg/reader.hpp"
#include "transforms/codec/jpeg/baseline/core.hpp"
#include "transforms/image/targets.hpp"

using namespace penstock;
using namespace penstock_test;
namespace baseline = penstock::jpeg::baseline;

namespace {

// Coefficients as libjpeg reads them: component by component, block by block.
class Expected {
 public:
  explicit Expected(std::span<const std::byte> bytes) : all_(coefficients(bytes)) {}
  // One of the image's blocks; null for those that only fill an MCU.
  const std::int16_t* block(const baseline::Frame& frame, int component, int x, int y) const {
    std::size_t at = 0;
    for (int c = 0;; ++c) {
      const auto along = [](int side, int of, int most) { return (side * of + most * DCTSIZE - 1) / (most * DCTSIZE); };
      const int across = along(frame.width, frame.component[c].h, frame.h),
                down = along(frame.height, frame.component[c].v, frame.v);
      at += DCTSIZE2;  // the table
      if (c == component) {
        if (x >= across || y >= down) return nullptr;
        return all_.data() + at + static_cast<std::size_t>((y * across + x) * DCTSIZE2);
      }
      at += static_cast<std::size_t>(across * down * DCTSIZE2);
    }
  }

 private:
  std::vector<std::int16_t> all_;
};

// Goes through all MCUs, some decoded, some skipped. Returns how many blocks were compared.
std::uint64_t compare_coefficients(const RandomJpeg& file, Numbers& numbers, baseline::TableCache& tables,
                                   baseline::ScanReader& reader) {
  const Expected expected(file.bytes);
  jpeg::Reader header(file.bytes, {});
  baseline::Frame frame;
  REQUIRE_FALSE(baseline::Frame::read(header.info(), tables, frame));
  std::vector<baseline::Block> blocks(baseline::ScanReader::most_blocks);
  const std::span<const std::uint8_t> data(reinterpret_cast<const std::uint8_t*>(file.bytes.data()), file.bytes.size());
  baseline::ScanWalk walk(frame, data, static_cast<std::size_t>(header.offset()), reader, blocks.data());
  std::uint64_t compared = 0;
  const int mcus = frame.mcus_across * frame.mcus_down;
  for (int at = 0; at < mcus;) {
    const int some = std::min(mcus - at, numbers.from(1, numbers.coin() ? 5 : 200));
    if (numbers.below(3) == 0) {
      walk.skip(some);
    } else {
      walk.decode(some, [&](int first, int together, baseline::Block* decoded) {
        for (int mcu = at + first; mcu < at + first + together; ++mcu) {
          for (int k = 0; k < frame.blocks; ++k, ++decoded) {
            const auto& of = frame.block[k];
            const baseline::Component& component = frame.component[of.component];
            const std::int16_t* const wanted =
                expected.block(frame, of.component, mcu % frame.mcus_across * component.h + of.x,
                               mcu / frame.mcus_across * component.v + of.y);
            std::int16_t(&found)[64] = decoded->coefficients;
            if (wanted != nullptr) {
              if (!std::equal(found, found + 64, wanted)) FAIL(file.text << ", MCU " << mcu << ", block " << k);
              ++compared;
            }
            for (int i = static_cast<int>(decoded->known); i < 64; ++i)
              if (found[baseline::natural_order.at[i]] != 0) FAIL("coefficient " << i << " was not known");
            std::fill_n(found, 64, std::int16_t{0});
          }
        }
      });
    }
    at += some;
    REQUIRE_FALSE(walk.stopped());
  }
  REQUIRE(walk.ends_image());
  return compared;
}

}  // namespace

TEST_CASE("coefficients are libjpeg's, whether blocks between are decoded or skipped") {
  Numbers numbers(numbered_seed(1));
  baseline::TableCache tables;
  baseline::ScanReader reader;
  std::uint64_t files = 0, blocks = 0;
  for (const std::uint64_t end = runs(600); files < end; ++files)
    blocks += compare_coefficients(random_jpeg(numbers, 300), numbers, tables, reader);
  std::printf("coefficients: %llu files, %llu blocks compared\n", static_cast<unsigned long long>(files),
              static_cast<unsigned long long>(blocks));
}

TEST_CASE("crops of undamaged files are libjpeg's, with every instruction set") {
  std::uint64_t target = 0, crops = 0;
  on_every_target([&] {
    Core core;
    Numbers numbers(numbered_seed(++target));
    for (std::uint64_t i = 0, end = runs(250); i < end; ++i) {
      const RandomJpeg file = random_jpeg(numbers, 300);
      for (int k = 0; k < 4; ++k, ++crops) {
        const Box box = random_box(numbers, file.shape);
        const bool gray = file.text.ends_with("RGB") ? false : numbers.below(4) == 0, to_end = numbers.coin();
        const Outcome outcome = core.decode(file.bytes, box, to_end, gray);
        INFO(file.text << ", box " << box.top << " " << box.left << " " << box.height << "x" << box.width);
        if (outcome.reason) FAIL("left to libjpeg: " << static_cast<int>(*outcome.reason));
        REQUIRE(outcome.pixels);
        REQUIRE(*outcome.pixels == plain_crop(file.bytes, box, gray));
      }
    }
  });
  std::printf("crops: %llu compared\n", static_cast<unsigned long long>(crops));
}

TEST_CASE("crops of reduced images are libjpeg's, with every instruction set") {
  std::uint64_t target = 0, crops = 0, files = 0;
  on_every_target([&] {
    Core core;
    Numbers numbers(numbered_seed(100 + ++target));
    for (std::uint64_t i = 0, end = runs(250); i < end; ++i, ++files) {
      const RandomJpeg file = random_jpeg(numbers, 300);
      for (const int denominator : {2, 4, 8}) {
        const ImageShape shape = shape_at(file.shape, denominator);
        for (int k = 0; k < 2; ++k, ++crops) {
          const Box box = random_box(numbers, shape);
          const bool gray = file.text.ends_with("RGB") ? false : numbers.below(4) == 0, to_end = numbers.coin();
          const Outcome outcome = core.decode(file.bytes, box, to_end, gray, denominator);
          INFO(file.text << ", at 1/" << denominator << ", box " << box.top << " " << box.left << " " << box.height
                         << "x" << box.width << (gray ? ", gray" : ""));
          if (outcome.reason) FAIL("left to libjpeg: " << static_cast<int>(*outcome.reason));
          REQUIRE(outcome.pixels);
          REQUIRE(*outcome.pixels == plain_crop(file.bytes, box, gray, to_end, denominator));
        }
      }
    }
  });
  std::printf("crops of reduced images: %llu of %llu files compared\n", static_cast<unsigned long long>(crops),
              static_cast<unsigned long long>(files));
}

TEST_CASE("pictures of few columns, whose chroma libjpeg repeats, are decoded") {
  Core core;
  for (const std::array<int, 2> luma : {std::array{2, 2}, std::array{2, 1}, std::array{1, 2}, std::array{1, 1}}) {
    for (std::int32_t width = 1; width <= 9; ++width) {
      for (const std::int32_t height : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33}) {
        const Bytes bytes = plain_encode(static_noise({height, width, 3}), {.luma = luma});
        const Outcome outcome = core.decode(bytes);
        INFO(width << "x" << height << ", luma " << luma[0] << "x" << luma[1]);
        REQUIRE(outcome.pixels);
        REQUIRE(*outcome.pixels == plain_decode(bytes));
        for (const int denominator : {2, 4, 8}) {
          const ImageShape small = shape_at({height, width, 3}, denominator);
          const Box all{0, 0, small.height, small.width};
          const Outcome of_small = core.decode(bytes, all, true, false, denominator);
          INFO("at 1/" << denominator);
          REQUIRE(of_small.pixels);
          REQUIRE(*of_small.pixels == plain_crop(bytes, all, false, true, denominator));
        }
      }
    }
  }
}
