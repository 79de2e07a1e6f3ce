// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file_list.hpp"

namespace penstock::files {

/// Returns how many bytes at the end of each path are not in its key. These are the dot and the ending, if the ending
/// is one of `extensions`. The key is the whole path if another file could get the same key. `extensions`: in lower
/// case; if empty, the defaults of Files are used.
std::vector<std::uint8_t> endings_beyond_keys(const PathTable& paths, const std::vector<std::string>& extensions);

}  // namespace penstock::files
