#pragma once

#include <cstdint>
#include <string>

#include <penstock/sources/files.hpp>

namespace penstock::cli {

/// Files of a folder that lie elsewhere, as links lead there.
struct LinksOut {
  std::uint64_t files = 0;
  std::string first = {};  ///< its path below the folder
};
LinksOut links_out_of(const FilesSource& files);

/// In a line; empty where there is none.
std::string links_out_text(const LinksOut& links);

}  // namespace penstock::cli
