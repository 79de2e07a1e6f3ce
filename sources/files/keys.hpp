// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file_list.hpp"

namespace penstock::files {

/// Returns how many bytes at the end of each path are not in its key. These are the dot and the ending, if the ending
/// is one of `extensions` (lower case; none: the defaults of Files). The key is the whole path if another file would
/// get the same key.
std::vector<std::uint8_t> endings_beyond_keys(const PathTable& paths, const std::vector<std::string>& extensions);

}  // namespace penstock::files
