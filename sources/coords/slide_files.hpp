// Folders of HDF5 files, one for each slide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock::coords {

struct SlideFile {
  std::string path;
  std::string slide;  ///< the file's path below the folder, without its ending
};

struct FilesOfSlides {
  std::vector<SlideFile> files = {};
  std::string passed_over = {};  ///< other files of the folder, by their endings; empty: none
};

/// `path`: a file, or a folder. Of a folder its files that end in .h5 and those of folders in it, by their paths'
/// bytes; where it has none itself, and its folder `inner` has some, those alone. Links to folders are followed, and no
/// folder is walked twice. What `is_skipped` is not looked at; a link that leads nowhere is a file.
/// @throws Error(not_found | io), and Error(invalid_argument) for two files of one slide, a.h5 and a.H5, of `source`.
FilesOfSlides find_slide_files(const std::string& path, const std::string& inner, std::string_view source);

}  // namespace penstock::coords
