#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penstock::cli {

/// "; did you mean resize?" where one of `names` is so like `word` that it may be a typing error; else empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}  // namespace penstock::cli
