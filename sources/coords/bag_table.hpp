// What a CSV file says of slides that have features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/schema.hpp>
#include <penstock/sources/feature_bags.hpp>

#include "slide_files.hpp"

namespace penstock::coords {

/// One value for each slide that is listed; of the others, nothing that means something.
struct BagColumn {
  Field field;
  std::vector<std::int64_t> whole;  ///< of a field of whole numbers
  std::vector<float> numbers;       ///< of one of others
};

struct BagTable {
  std::vector<BagColumn> columns;
  std::vector<std::string> groups;            ///< of the slides, where `FeatureBags::group` is given
  std::vector<bool> listed;                   ///< which slides have a line
  std::size_t other_lines = 0;                ///< that name no slide
  std::optional<std::string> guessed_column;  ///< that slides are named by, where others might be meant
};

/// Reads `options.labels`. @throws as the constructor of FeatureBagSource, but for slides that are not listed.
BagTable read_bag_table(const FeatureBags& options, std::span<const SlideFile> slides);

}  // namespace penstock::coords
