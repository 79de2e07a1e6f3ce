// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/extend/listing.hpp>

namespace penstock::cli {

struct WantedSlides {
  std::vector<std::string> files = {};
  SkippedEntries passed_over = {};  ///< other files and folders in the folders that were named
};

/// Returns the slides that arguments name. An argument is a file, a pattern of files, or a folder. In a folder, only
/// files with extensions of slides are taken. Sorts the slides of each argument by the bytes of their paths. @throws
/// penstock::Error if an argument names no slide.
WantedSlides slide_files(const std::vector<std::string>& arguments);

/// Describes how many files and folders were skipped, by extension, and says what to do. Returns an empty text if
/// nothing was skipped.
std::string passed_over_text(const SkippedEntries& passed_over);

}  // namespace penstock::cli
