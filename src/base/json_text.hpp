// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace penstock::detail {

/// Returns the text as a JSON string with its quotes. Each byte that is not UTF-8 becomes U+FFFD. A store's keys may
/// have such bytes.
std::string json_string(std::string_view text);

}  // namespace penstock::detail
