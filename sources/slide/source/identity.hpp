// SPDX-License-Identifier: Apache-2.0
// What identifies the records of a source of slides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"
#include "table/slide_table.hpp"

namespace penstock::slide {

/// `region_classes`: classes of the field `regions.field`; `groups`: each slide's; `columns`: the table's.
std::uint64_t identity_of_records(const Slides& options, const std::vector<SlideFile>& slides,
                                  const std::vector<std::string>& region_classes,
                                  const std::vector<std::string>& groups, const std::vector<SlideColumn>& columns);

}  // namespace penstock::slide
