#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/sources/feature_sink.hpp>

namespace penstock {

/// Writes one HDF5 file with the dataset `coords`, i64 [N, 2], which may grow, and attributes of it, as CLAM and
/// TRIDENT have one for each slide. The file has its name once it is whole, and replaces one that is there; until then
/// it is called `path` + ".partial". With `sync` it lasts through a power cut. Any thread; two at one path are not for
/// the same time. @throws Error(invalid_argument) for attributes of one name; Error(io | not_found).
PENSTOCK_API void write_coords_file(const std::string& path, std::span<const std::array<std::int64_t, 2>> coords,
                                    const std::vector<FeatureAttribute>& attributes, bool sync = true);

}  // namespace penstock
