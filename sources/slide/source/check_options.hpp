// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

namespace penstock::slide {

/// Checks options. @throws Error(invalid_argument) for options that can't work.
void check_options(const Slides& options);

/// Returns whether a list of classes means every class.
bool takes_all(const std::vector<std::string>& classes);

}  // namespace penstock::slide
