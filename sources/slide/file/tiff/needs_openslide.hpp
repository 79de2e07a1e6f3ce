// SPDX-License-Identifier: Apache-2.0
// Says that OpenSlide has to read a file, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/error.hpp>

#include "file/scale/resolution.hpp"
#include "file/tiff/ome.hpp"

namespace penstock::slide {

/// Facts about a TIFF's tiles that matter if OpenSlide decodes them.
struct TilesOfOpenSlide {
  bool by_version_4 = false;  ///< OpenSlide reads the file only from version 4 on
  bool by_libtiff = false;    ///< OpenSlide decodes some tiles with libtiff, because they are not plain JPEG
  struct Size {
    std::int64_t width = 0, height = 0;
  };
  std::vector<Size> turned = {};  ///< sizes of images that are stored mirrored or turned; OpenSlide would not turn them
};

/// Thrown if this library can't read a file's tiles. OpenSlide may be able to.
struct NeedsOpenSlide {
  Errc code;
  std::string why;
  Resolution resolution = {};  ///< the resolution in the description or in TIFF's tags; OpenSlide may ignore these
  std::optional<OmeImage> ome = {};  ///< the image that OME-XML selects; OpenSlide reads the same one
  TilesOfOpenSlide tiles = {};
};

[[noreturn]] inline void leave_to_openslide(const std::string& why) { throw NeedsOpenSlide{Errc::unsupported, why}; }

}  // namespace penstock::slide
