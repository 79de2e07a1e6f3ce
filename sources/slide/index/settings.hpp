// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/sources/slide.hpp>

namespace penstock::slide {

/// Returns a line for each option that an index depends on: "size 256". The contents of tables, lists and files of
/// regions are not included.
std::string index_settings(const Slides& options);

/// Returns the first setting that differs: "size 256, and size 224 is asked for"; empty if none differs.
std::string first_difference(const std::string& made, const std::string& asked);

}  // namespace penstock::slide
