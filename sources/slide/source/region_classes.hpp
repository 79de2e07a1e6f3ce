// SPDX-License-Identifier: Apache-2.0
// The names and numbers of the classes of regions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"

namespace penstock::slide {

/// Returns a line for each class of `regions.include` and `regions.exclude` that no slide has. Without these lines,
/// a misspelt class would silently leave out everything, or nothing. If all slides can be read, throws
/// Error(invalid_argument) instead of returning a line.
std::vector<std::string> unknown_classes(const SlideRegions& regions, const std::vector<SlideFile>& slides);

/// Numbers the classes that records may show, and sets `class_numbers` of each slide. Returns the classes' names, in
/// the order of their numbers.
std::vector<std::string> number_classes(const SlideRegions& regions, std::vector<SlideFile>& slides);

/// Returns the number of the class that a record of the slide shows; 0 if it shows none.
std::int64_t shown_class(const SlideFile& slide, std::uint64_t record) noexcept;

}  // namespace penstock::slide
