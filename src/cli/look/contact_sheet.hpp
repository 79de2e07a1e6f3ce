// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "stores/input_store.hpp"

namespace penstock::cli {

struct SheetOptions {
  std::string file;             ///< PNG to write
  std::string field = "image";  ///< encoded images, or u8[H, W, 1 or 3]
  std::uint64_t count = 64;     ///< samples, spread evenly over the store
  std::int32_t cell = 128;      ///< pixels on each side of a drawn sample
};

/// How many samples the sheet has, and how many of these could not be drawn (`bad`).
struct Sheet {
  std::uint64_t samples = 0, bad = 0;
  std::string first_bad;  ///< why the first undrawn sample failed: "key a/1.png: the image is cut off"
};

/// Draws samples side by side in the store's order. If the store has labels, a bar below each sample has its class's
/// colour. A sample that can't be drawn becomes a crossed-out cell. @throws penstock::Error, std::runtime_error.
Sheet draw_contact_sheet(const InputStore& store, const SheetOptions& options);

}  // namespace penstock::cli
