// The files that a slide is made of besides the one that is given.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "file/identity/file_mark.hpp"

namespace penstock::slide {

/// What of several files tells that they are the same: their sizes together, and a hash of the samples of each, in this
/// order. @throws Error(not_found | io).
FileSample sample_of_all(const std::vector<std::string>& files);

/// The files of a MIRAX slide "X.mrxs", which lie in the folder "X", in the order of their names; none where there is
/// no such folder.
std::vector<std::string> files_of_mirax(const std::string& path);

/// DICOM files by their series. Each folder is listed once, and each of its files looked into.
class DicomFolders {
 public:
  /// A folder, however it is spelled, and a series in it.
  struct Series {
    dev_t device = 0;
    ino_t inode = 0;
    std::string identifier;  ///< empty: the file is none of a series
    friend auto operator<=>(const Series&, const Series&) = default;
  };
  /// @throws Error(not_found | io).
  Series series_of(const std::string& path);
  /// All files of the series, in the order of their names, but for the one at `path`.
  std::vector<std::string> others_of(const Series& series, const std::string& path) const;

 private:
  using Folder = std::pair<dev_t, ino_t>;
  void list(const Folder& folder, const std::string& path);
  std::map<Folder, std::map<std::string, std::vector<std::string>>> folders_;  // files of each series
};

}  // namespace penstock::slide
