// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "regions/region_file.hpp"

namespace penstock::slide {

/// Adds the annotations of `text`, which is ASAP's XML, to `regions`. Overwrites `text`. @throws Error(corrupt |
/// limit_exceeded), with `path`.
void read_asap(std::string& text, const std::string& path, Regions& regions);

}  // namespace penstock::slide
