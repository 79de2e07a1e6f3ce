// SPDX-License-Identifier: Apache-2.0
// Reads the CSV file with values of slides, such as labels.
#pragma once

#include <span>

#include <penstock/sources/feature_bags.hpp>

#include "common/tables/slide_lines.hpp"
#include "slide_files.hpp"

namespace penstock::coords {

using BagColumn = common::TableColumn;
using BagTable = common::SlideLines;

/// Reads `options.labels`. @throws what the constructor of FeatureBagSource throws about the table. A slide that has no
/// line in the table is not an error here.
BagTable read_bag_table(const FeatureBags& options, std::span<const SlideFeatureFile> slides);

}  // namespace penstock::coords
