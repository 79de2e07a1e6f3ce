// SPDX-License-Identifier: Apache-2.0
// Finds the HDF5 files in a folder, one per slide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock::coords {

struct SlideFeatureFile {
  std::string path;
  /// The file's path relative to the folder that was searched, without the ending. If `find_slide_files` was given a
  /// file, this is the file's name without the ending.
  std::string slide;
};

struct SlideFeatureFiles {
  std::vector<SlideFeatureFile> files = {};
  std::string passed_over = {};  ///< the folder's other files, counted per ending, as a text; empty: none
};

/// Finds the slides' files. If `path` is a file, returns only that file. If `path` is a folder, returns the files in it
/// that end in .h5 or .H5, at any depth, in the order of their paths' bytes. If no such file is directly in the folder,
/// but its folder `inner` has some, at any depth, returns only the files of `inner`. Follows links to folders, but
/// visits no folder twice. A link that leads nowhere counts as a file. Ignores files and folders for which `is_skipped`
/// is true.
/// @throws Error(not_found | io); Error(invalid_argument) if a slide has two files, a.h5 and a.H5. The Errors name
/// `source`.
SlideFeatureFiles find_slide_files(const std::string& path, const std::string& inner, std::string_view source);

}  // namespace penstock::coords
