// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock_bench {

/// What cutting slides costs a thread, measured here.
struct TileCosts {
  double open_s = 0;           ///< to open a slide and make its mask, for each GB of its file
  double start_s = 0;          ///< to open one without a mask
  double s_per_byte = 0;       ///< to make the tiles of a byte of the file and store them
  double stored_per_byte = 0;  ///< bytes of the store
  double bytes_per_tile = 0;   ///< of the file
};

/// Cuts the slide, several times, with one thread. `encode`: every tile is decoded and encoded; else copied.
TileCosts measure_costs(const std::string& slide, const std::string& folder, bool encode);

}  // namespace penstock_bench
