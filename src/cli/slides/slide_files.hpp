// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/extend/listing.hpp>

namespace penstock::cli {

struct WantedSlides {
  std::vector<std::string> files = {};
  SkippedEntries passed_over = {};  ///< other files in the slides' folders
};

/// Returns the slides that arguments name. An argument is a file, a pattern of files, or a folder; in a folder, the
/// files with slides' extensions count. Sorts the slides of each argument by the bytes of their paths. @throws
/// penstock::Error if an argument names no slide.
WantedSlides slide_files(const std::vector<std::string>& arguments);

/// Returns how many files were skipped, by extension, and what to do; empty if none was.
std::string passed_over_text(const SkippedEntries& passed_over);

}  // namespace penstock::cli
