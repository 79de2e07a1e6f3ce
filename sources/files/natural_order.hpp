#pragma once

#include <string_view>

namespace penstock::files {

/// Runs of digits compare as numbers, and '/' before everything else, so that a folder's files stay together. A strict
/// total order: paths that differ in leading zeros only are ordered by their bytes.
bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace penstock::files
