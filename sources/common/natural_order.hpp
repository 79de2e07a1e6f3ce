// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace penstock::common {

/// Compares as people count. Runs of digits compare as numbers. '/' comes before everything else, so that a folder
/// comes before folders whose names begin with its name. Other bytes compare by value. A strict total order: paths that
/// differ only in leading zeros are ordered by their bytes.
bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace penstock::common
