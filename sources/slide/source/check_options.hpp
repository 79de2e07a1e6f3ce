#pragma once

#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

namespace penstock::slide {

/// @throws Error(invalid_argument) for options that can't work.
void check_options(const Slides& options);

/// Whether a list of classes is every class.
bool takes_all(const std::vector<std::string>& classes);

}  // namespace penstock::slide
