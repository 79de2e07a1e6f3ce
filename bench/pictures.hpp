// SPDX-License-Identifier: Apache-2.0
// Pictures of 500x375 like those a classifier is trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/image_op.hpp>

namespace penstock::bench {

inline constexpr Size picture_size{375, 500};

// Makes picture i of an endless series. It is the same on every machine that has the same photographs. Any thread may
// use it.
//
// Pictures are crops of the photographs that Debian's mate-backgrounds installs, shrunk by two to five. If there are no
// photographs, pictures are made up of noise in many octaves and of soft and hard edges. Made-up pictures have about as
// many bytes as crops, and take about as long to decode.
class Pictures {
 public:
  explicit Pictures(bool photographs);

  // Returns "made-up pictures", or a text such as "crops of 12 photographs (mate-backgrounds)".
  std::string source() const;

  // Returns the pixels of picture i as RGB, row by row, with added noise of standard deviation `sigma`.
  std::vector<std::uint8_t> pixels(std::uint64_t i, double sigma) const;
  // Returns picture i enlarged to 4,000 x 3,000, with noise as cameras make it, as a JPEG with 4:2:0 and quality 90.
  std::vector<std::byte> large_jpeg(std::uint64_t i) const;
  // Returns picture i as a JPEG with 4:2:0 and `quality`.
  std::vector<std::byte> jpeg(std::uint64_t i, int quality, double sigma) const;

 private:
  struct Photograph {
    Size size;
    std::vector<std::uint8_t> pixels;
  };
  std::vector<std::uint8_t> crop(std::uint64_t i) const;
  std::vector<Photograph> photographs_;
};

// Returns a JPEG with the same coefficients, and with the Huffman tables that suit them best.
std::vector<std::byte> with_own_tables(std::span<const std::byte> jpeg);

}  // namespace penstock::bench
