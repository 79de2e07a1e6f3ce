// SPDX-License-Identifier: Apache-2.0
// Regions for tests, and the forms in which files have them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace penstock_test {

// Corners in pixels of level 0.
using Ring = std::vector<std::pair<double, double>>;

// What one annotation has: polygons, each of rings.
struct DrawnRegion {
  std::string name;  // of its class; empty: it has none
  std::vector<std::vector<Ring>> polygons;
};

std::string as_geojson(const std::vector<DrawnRegion>& regions);
// Each polygon's first ring.
std::string as_asap(const std::vector<DrawnRegion>& regions);
// Grey values, a byte each. With `palette` they are indices of colours.
void write_label_png(const std::string& path, int width, int height, const std::vector<unsigned char>& values,
                     bool palette = false);

}  // namespace penstock_test
