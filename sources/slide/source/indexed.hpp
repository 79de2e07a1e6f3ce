// SPDX-License-Identifier: Apache-2.0
// Slides from an index.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/entry.hpp"
#include "source/slide_opener.hpp"

namespace penstock::slide {

/// Returns the hash of a list of places, or 0 if `list` is null.
std::uint64_t hash_of_list(const SlideCoords* list);
/// Returns the hash of the file of regions whose path is `file`, or 0 if `file` is "" or there is no such file. @throws
/// like read_text.
std::uint64_t hash_of_regions(const std::string& file);

/// Returns all slides of `opening`, from the index that its options name, without opening any slide.
/// @throws Error(invalid_argument) if the index was made from other slides or settings; Error(not_found) if it does not
/// exist; Error(corrupt | io).
std::vector<SlideFile> indexed_slides(const SlideOpener& opening);

}  // namespace penstock::slide
