// SPDX-License-Identifier: Apache-2.0
// Finds the HDF5 files in a folder, one per slide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock::coords {

struct SlideFeatureFile {
  std::string path;
  std::string slide;  ///< the file's path relative to the folder, without its ending
};

struct SlideFeatureFiles {
  std::vector<SlideFeatureFile> files = {};
  std::string passed_over = {};  ///< the folder's other files, counted per ending, as a text; empty: none
};

/// Finds the slides' files. `path` is a file, or a folder. In a folder these are the files that end in .h5, also in
/// folders below, in the order of their paths' bytes. If there is no such file directly in the folder, but in its
/// folder `inner` or below, only the files of `inner` are used. Links to folders are followed, and no folder is visited
/// twice. Files for which `is_skipped` is true are ignored. A broken link counts as a file.
/// @throws Error(not_found | io); Error(invalid_argument), of `source`, if a slide has two files, a.h5 and a.H5.
SlideFeatureFiles find_slide_files(const std::string& path, const std::string& inner, std::string_view source);

}  // namespace penstock::coords
