#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file_list.hpp"

namespace penstock::files {

/// How many bytes at the end of each path its key does without: the dot and an ending that is one of `extensions`
/// (lower case; none: those that Files has by default), where no two files would get one key.
std::vector<std::uint8_t> endings_beyond_keys(const PathTable& paths, const std::vector<std::string>& extensions);

}  // namespace penstock::files
