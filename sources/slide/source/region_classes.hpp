// What the classes of regions are called, and how they are numbered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"

namespace penstock::slide {

/// A line for each class that is asked for and that no slide has: misspelt, it would leave out everything, or nothing,
/// without a word. @throws Error(invalid_argument) for one, where all slides can be read.
std::vector<std::string> unknown_classes(const SlideRegions& regions, const std::vector<SlideFile>& slides);

/// Numbers the classes that records may show, in each slide; returns their names.
std::vector<std::string> number_classes(const SlideRegions& regions, std::vector<SlideFile>& slides);

/// The number of the class that a record of the slide shows.
std::int64_t shown_class(const SlideFile& slide, std::uint64_t record) noexcept;

}  // namespace penstock::slide
