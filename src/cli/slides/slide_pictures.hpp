// SPDX-License-Identifier: Apache-2.0
// Pictures of slides, written to files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "console/output.hpp"

namespace penstock::cli {

struct SlidePictures {
  struct Drawn {
    std::string slide, file;
  };
  struct NotDrawn {
    std::string slide, cause;
  };
  std::vector<Drawn> drawn;
  std::vector<NotDrawn> not_drawn;  ///< slides that could be opened but not drawn
};

/// Returns the path of a slide's picture: FOLDER/NAME.png. `slide` is the slide's name. Each '/' in it begins a
/// subfolder. A part that is too long for a file's name is shortened.
std::string picture_in(const std::string& folder, const std::string& slide);

struct DrawingOptions {
  std::function<std::string(const SlideInfo&)> file_of;  ///< returns the PNG's path for a slide
  std::function<bool(const SlideInfo&)> wanted = {};     ///< empty: all slides are wanted
  std::int32_t side = 1024;
  bool caption = true;   ///< text below the slide
  unsigned threads = 0;  ///< 0: the number of cores
  bool quiet = false;    ///< no progress
};
/// Draws all slides that are wanted, could be opened, and belong to this rank. Creates missing folders. @throws
/// penstock::Error if a file can't be written.
SlidePictures draw_pictures(const SlideSource& source, const DrawingOptions& options);

/// Returns a line for each slide that could not be drawn. Then, if there are pictures, a line like "3 pictures: a/x.png
/// ... a/z.png".
std::vector<std::string> picture_lines(const SlidePictures& pictures);
/// Adds the lists "pictures" and "not_drawn".
void add_pictures(Json& json, const SlidePictures& pictures);

}  // namespace penstock::cli
