// SPDX-License-Identifier: Apache-2.0
// The command line of `penstock tile`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/slide_picture.hpp>

#include "console/output.hpp"
#include "slides/slide_flags.hpp"
#include "stores/store_to_write.hpp"
#include "stores/write_run.hpp"
#include "tile/rank_share.hpp"

namespace penstock::cli {

struct TileFlags {
  std::vector<std::string> slides;
  std::string list, list_column;
  SlideFlags cut;
  std::string on_error = "drop", encoding = "jpeg", pictures, coords, report;
  std::int32_t picture_side = SlidePictureOptions().side;
  int quality = 90;
  bool encode = false, verify = false, dry_run = false, retry = false, no_thumbnails = false;
  OutFlags out;
  RankFlags ranks;
  Rank rank = {};                ///< the meaning of the rank's flags
  std::string lists;             ///< hash of the lists of places that --from-coords names
  std::string passed_over = {};  ///< a text about other files in the slides' folders, or empty
  WriteFlags writing;
  Json settings = Json::object();  ///< all options in effect, by their long names

  bool encodes() const noexcept { return encoding != "none"; }
};

}  // namespace penstock::cli
