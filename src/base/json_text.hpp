// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace penstock::detail {

/// Returns the text as a JSON string, quotes included. Keys of a store may be any bytes; bytes that are not UTF-8
/// become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace penstock::detail
