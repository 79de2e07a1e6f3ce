// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penstock::cli {

/// Returns "; did you mean resize?" if one of `names` is so similar to `word` that it may be a typing error; otherwise
/// empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}  // namespace penstock::cli
