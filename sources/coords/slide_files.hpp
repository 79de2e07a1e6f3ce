// SPDX-License-Identifier: Apache-2.0
// Folders of HDF5 files, one per slide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock::coords {

struct SlideFile {
  std::string path;
  std::string slide;  ///< the file's path relative to the folder, without its ending
};

struct FilesOfSlides {
  std::vector<SlideFile> files = {};
  std::string passed_over = {};  ///< other files of the folder, by their endings; empty: none
};

/// Finds the slides' files. `path` is a file, or a folder. A folder's files are those that end in .h5, including files
/// in folders below it, in the order of their paths' bytes. If the folder itself has none and its folder `inner` has
/// some, only these are used. Links to folders are followed, and no folder is visited twice. Files for which
/// `is_skipped` is true are ignored. A broken link counts as a file.
/// @throws Error(not_found | io); Error(invalid_argument), of `source`, if a slide has two files, a.h5 and a.H5.
FilesOfSlides find_slide_files(const std::string& path, const std::string& inner, std::string_view source);

}  // namespace penstock::coords
