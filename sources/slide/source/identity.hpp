// SPDX-License-Identifier: Apache-2.0
// Identifies the records of a source of slides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"
#include "table/slide_table.hpp"

namespace penstock::slide {

/// Returns a hash of everything that decides the records. `region_classes`: the classes of the field `regions.field`.
/// `groups`: the group of each slide. `columns`: the table's columns.
std::uint64_t identity_of_records(const Slides& options, const std::vector<SlideFile>& slides,
                                  const std::vector<std::string>& region_classes,
                                  const std::vector<std::string>& groups, const std::vector<SlideColumn>& columns);

}  // namespace penstock::slide
