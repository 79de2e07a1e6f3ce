// One slide as it was found when it was opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

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
  std::optional<Error> failure;  ///< why it can't be read

  Grid grid;
  std::uint64_t first = 0;                    ///< record
  std::uint64_t first_block = 0, blocks = 0;  ///< none: no record shares a tile with another
  int digits = 6;                             ///< of numbers in keys
};

/// What can be wrong with the file is in `failure`.
SlideFile open_slide(const std::string& path, std::size_t number);

}  // namespace penstock::slide
