// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/sources/files.hpp>

namespace penstock::cli {

/// Files of a folder that are outside of it, because links lead there.
struct LinksOut {
  std::uint64_t files = 0;
  std::string first = {};  ///< the first file's path, relative to the folder
};
LinksOut links_out_of(const FilesSource& files);

/// Describes these files in a line. Returns an empty text if there are no such files.
std::string links_out_text(const LinksOut& links);

}  // namespace penstock::cli
