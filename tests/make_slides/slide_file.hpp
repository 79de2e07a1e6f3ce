// SPDX-License-Identifier: Apache-2.0
// A tiled TIFF file as libtiff reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/tool.hpp"

struct tiff;

namespace penstock_test {

// RGB pixels.
struct Picture {
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  const std::uint8_t* at(std::int32_t x, std::int32_t y) const {
    return rgb.data() +
           (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 3;
  }
};

// Its level with half as many rows and columns, each pixel the mean of four.
Picture halved(const Picture& picture);
// Mean difference of the values of all pixels.
double mean_difference(const Picture& a, const Picture& b);

class SlideFile {
 public:
  struct Level {
    std::uint32_t width = 0, height = 0, tile = 0, tiles = 0, subfile_type = 0;
    std::uint16_t photometric = 0, subsampling_x = 0, subsampling_y = 0;
    std::string description;
    double per_cm = 0;                          // pixels; 0: not said
    std::vector<std::uint64_t> offsets, bytes;  // of its tiles
    std::uint32_t columns() const { return (width + tile - 1) / tile; }
  };

  // Levels are the directories, and those below the first one. @throws std::runtime_error for what libtiff can't open.
  explicit SlideFile(const std::string& path);
  const std::vector<Level>& levels() const { return levels_; }
  // How many levels have directories of their own, and don't stand below the first one.
  std::size_t directories() const { return directories_; }
  bool big_endian() const;
  bool big_tiff() const;

  // A tile to its full size. @throws std::runtime_error for any error and warning.
  Picture tile(std::size_t level, std::uint32_t number);
  // The level as a whole.
  Picture picture(std::size_t level);
  // The bytes that are stored for a tile.
  std::string stream(std::size_t level, std::uint32_t number) const;

 private:
  void open_level(std::size_t level);
  void read_level(std::uint64_t place);
  std::string path_;
  std::shared_ptr<tiff> file_;
  std::vector<Level> levels_;
  std::vector<std::uint64_t> places_;  // of their directories
  std::size_t directories_ = 0;
};

// Draws a slide, and checks that nothing is said on stderr.
ToolResult draw_slide(const std::string& path, const std::vector<std::string>& more);

}  // namespace penstock_test
