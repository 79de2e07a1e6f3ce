#pragma once

#include <string_view>

namespace penstock::common {

/// The order in which people count: runs of digits compare as numbers, '/' comes before everything else, so that a
/// folder comes before those whose names begin like its own, and other bytes compare as they are. A strict total order:
/// paths that differ in leading zeros only are ordered by their bytes.
bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace penstock::common
