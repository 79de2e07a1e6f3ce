// Slides as an index has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/entry.hpp"
#include "source/slide_opener.hpp"

namespace penstock::slide {

/// Hash of a list of places; 0: there is none.
std::uint64_t hash_of_list(const SlideCoords* list);
/// Hash of a file of regions; 0: there is none. @throws Error(io).
std::uint64_t hash_of_regions(const std::string& file);

/// All slides of `opening`, of which none is opened, by the index that its options name. @throws
/// Error(invalid_argument) where it was made of other slides or settings, Error(not_found) where there is none,
/// Error(corrupt | io).
std::vector<SlideFile> indexed_slides(const SlideOpener& opening);

}  // namespace penstock::slide
