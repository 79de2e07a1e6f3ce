// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock_bench {

/// What cutting slides costs one thread, as measured on this machine.
struct TileCosts {
  double open_s = 0;           ///< seconds to make the tissue mask, per GB of the slide's file
  double start_s = 0;          ///< seconds to open a slide without a mask
  double s_per_byte = 0;       ///< seconds to make and store tiles, per byte of the slide's file
  double stored_per_byte = 0;  ///< bytes of the store, per byte of the slide's file
  double bytes_per_tile = 0;   ///< bytes of the slide's file per tile
};

/// Cuts the slide several times with one thread. If `encode`, tiles are decoded and encoded; otherwise they are copied.
TileCosts measure_costs(const std::string& slide, const std::string& folder, bool encode);

}  // namespace penstock_bench
