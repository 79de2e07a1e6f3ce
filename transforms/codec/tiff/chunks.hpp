// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <penstock/extend/image_executor.hpp>

#include "file.hpp"
#include "layout.hpp"

namespace penstock::tiff {

// Decodes `box` of the stored image to `out`, its rows one after another. Reads the strips or tiles that the box
// touches; with `verify`, reads all. @throws Error(corrupt | out_of_memory).
void decode_box(File& file, const Layout& layout, const Box& box, bool verify, std::uint8_t* out, Scratch& scratch);

}  // namespace penstock::tiff
