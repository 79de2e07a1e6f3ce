#pragma once

#include <cstdint>
#include <string>

#include "store.hpp"

namespace penstock::cli {

struct SheetOptions {
  std::string file;             ///< PNG to write
  std::string field = "image";  ///< encoded JPEG, or u8 [H, W, C]
  std::uint64_t count = 64;     ///< samples, spread evenly over the store
  std::int32_t cell = 128;      ///< pixels a side
};

/// Draws samples side by side, in the store's order; below each a bar in its class's colour. A sample that can't be
/// decoded is a crossed-out cell. Returns how many of those there are. @throws penstock::Error, std::runtime_error.
std::uint64_t draw_contact_sheet(const Store& store, const SheetOptions& options);

}  // namespace penstock::cli
