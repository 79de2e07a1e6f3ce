// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/sources/feature_sink.hpp>

namespace penstock {

/// Writes an HDF5 file with the dataset `coords`, i64 [N, 2], and its attributes. Other programs can append to the
/// dataset. CLAM and TRIDENT use one such file per slide. Replaces an existing file. Until the new file is whole, its
/// name is `path` + ".partial". With `sync`, the new file survives a power cut. Any thread may call it, but only one
/// thread at a time for the same path.
/// @throws Error(invalid_argument) if two attributes have the same name; Error(io | not_found) if the file can't be
/// written.
PENSTOCK_API void write_coords_file(const std::string& path, std::span<const std::array<std::int64_t, 2>> coords,
                                    const std::vector<FeatureAttribute>& attributes, bool sync = true);

}  // namespace penstock
