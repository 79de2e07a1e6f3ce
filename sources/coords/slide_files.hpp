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

/// `path`: a file, or a folder. Of a folder its files that end in .h5 and those of folders in it, by their paths'
/// bytes; where it has none itself, and its folder `inner` has some, those alone. Links to folders are followed, and no
/// folder is walked twice. What begins with a dot is passed over; a link that leads nowhere is a file.
/// @throws Error(not_found | io) of `source`.
std::vector<SlideFile> find_slide_files(const std::string& path, const std::string& inner, std::string_view source);

}  // namespace penstock::coords
