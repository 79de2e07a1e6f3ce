// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file_list.hpp"

namespace penstock::files {

/// Returns how many bytes at the end of each path its key omits. These are the dot and an ending that is one of
/// `extensions` (lower case; none: the defaults of Files), unless two files would get the same key.
std::vector<std::uint8_t> endings_beyond_keys(const PathTable& paths, const std::vector<std::string>& extensions);

}  // namespace penstock::files
