// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penstock::cli {

/// Returns "; did you mean resize?" if `word` is so similar to one of `names` that `word` may be a typing error.
/// Otherwise returns an empty text.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}  // namespace penstock::cli
