// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "regions/region_file.hpp"

namespace penstock::slide {

/// Adds the polygons of a GeoJSON text to `regions`. The text is a FeatureCollection, a Feature, a geometry, or a list
/// of these, as QuPath writes. Takes time and memory proportional to the text's bytes. @throws Error(corrupt |
/// limit_exceeded), with `path`.
void read_geojson(std::string_view text, const std::string& path, Regions& regions);

}  // namespace penstock::slide
