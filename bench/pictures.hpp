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

// Makes picture i of an endless series, the same on every machine that has the same photographs. Any thread.
//
// Crops of the photographs that Debian's mate-backgrounds installs, shrunk by two to five; where there are none,
// made-up ones: noise of many octaves, soft and hard edges, which take about as many bytes and as long to decode.
class Pictures {
 public:
  explicit Pictures(bool photographs);

  // "crops of 12 photographs (mate-backgrounds)" or "made-up pictures"
  std::string source() const;

  // RGB, row by row; noise of standard deviation `sigma` is added.
  std::vector<std::uint8_t> pixels(std::uint64_t i, double sigma) const;
  // The pixels encoded with 4:2:0 at `quality`.
  std::vector<std::byte> jpeg(std::uint64_t i, int quality, double sigma) const;

 private:
  struct Photograph {
    Size size;
    std::vector<std::uint8_t> pixels;
  };
  std::vector<std::uint8_t> crop(std::uint64_t i) const;
  std::vector<Photograph> photographs_;
};

// A JPEG of the same coefficients, with the Huffman tables that suit them best.
std::vector<std::byte> with_own_tables(std::span<const std::byte> jpeg);

}  // namespace penstock::bench
