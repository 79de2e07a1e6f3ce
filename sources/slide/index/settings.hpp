#pragma once

#include <string>

#include <penstock/sources/slide.hpp>

namespace penstock::slide {

/// All options that an index depends on, but for tables, lists and files of regions: a line each, "size 256".
std::string index_settings(const Slides& options);

/// The first setting that is another one: "size 256, and size 224 is asked for"; empty: none is.
std::string first_difference(const std::string& made, const std::string& asked);

}  // namespace penstock::slide
