// One slide as it was found when it was opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/error.hpp>

#include "directory.hpp"
#include "grid.hpp"
#include "open_files.hpp"

namespace penstock::slide {

struct SlideFile {
  std::string path, name;
  std::size_t number = 0;  ///< among the slides, for `OpenFiles`
  FileMark mark;
  std::uint64_t revision = 0;
  Directory directory;
  std::vector<std::byte> kept_offsets, kept_sizes;  ///< of tiles, as they stand in the file; empty: they are not kept
  std::optional<Error> failure;                     ///< why it can't be read

  Grid grid;
  std::uint64_t first = 0;                    ///< record
  std::uint64_t first_block = 0, blocks = 0;  ///< none: no record shares a tile with another
  int digits = 6;                             ///< of numbers in keys
};

/// What can be wrong with the file is in `failure`. Keeps the places of its tiles where these are not more than
/// `keep_left` bytes, which they are taken from.
SlideFile open_slide(const std::string& path, std::size_t number, std::size_t& keep_left);

}  // namespace penstock::slide
