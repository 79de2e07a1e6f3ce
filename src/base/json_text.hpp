// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace penstock::detail {

/// Returns the text as a JSON string with its quotes. Bytes that are not UTF-8, which a store's keys may have, become
/// U+FFFD.
std::string json_string(std::string_view text);

}  // namespace penstock::detail
