// SPDX-License-Identifier: Apache-2.0
// A list of places, written for CLAM and read again; and features that are not there.
#include <penstock/penstock.hpp>
#include <penstock/sources/coords.hpp>
#include <penstock/sources/coords_file.hpp>
#include <penstock/sources/feature_bags.hpp>

#include <array>
#include <cstdint>
#include <vector>

#include "say.hpp"

namespace ps = penstock;

int main() {
  const std::vector<std::array<std::int64_t, 2>> places{{0, 0}, {256, 512}};
  ps::write_coords_file("a.h5", places, {{"patch_size", std::int64_t{256}}, {"patch_level", std::int64_t{0}}});
  const std::vector<ps::SlideCoords> lists = ps::read_coords("a.h5");
  bool refused = false;
  try {
    const ps::FeatureBagSource bags({.path = "a.h5"});
  } catch (const ps::Error& error) {
    refused = error.code() == ps::Errc::not_found;
  }
  return say("a list of places",
             refused && lists.size() == 1 && lists.front().at.size() == 2 && lists.front().size == 256);
}
