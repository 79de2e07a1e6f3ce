// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace penstock::common {

/// Returns whether path `a` comes before path `b`. Consecutive digits are compared as one number. '/' comes before
/// every other byte, so "a/x" comes before "a-b/x". Other bytes compare by value. Paths that differ only in leading
/// zeros are ordered by their bytes, so this is a strict total order.
bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace penstock::common
