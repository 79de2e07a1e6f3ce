// SPDX-License-Identifier: Apache-2.0
// Finds the other files of a slide that consists of several.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "file/identity/file_mark.hpp"

namespace penstock::slide {

/// Identifies the content of several files. Returns the sum of the files' sizes, and a hash of their digests in the
/// order of `files`.
/// @throws Error(not_found | io).
PartialDigest sample_of_all(const std::vector<std::string>& files);

/// Returns the other files of the MIRAX slide "X.mrxs". They are in the folder "X". The result is sorted by name, and
/// is empty if there is no such folder. @throws Error(io) if the folder can't be listed.
std::vector<std::string> files_of_mirax(const std::string& path);

/// Finds DICOM files by their series. Lists each folder only once, and looks into all of the folder's files then.
class DicomFolders {
 public:
  /// A series in a folder. All spellings of the folder's path give the same value.
  struct Series {
    dev_t device = 0;
    ino_t inode = 0;
    std::string identifier;  ///< empty: the file is not part of a series
    friend auto operator<=>(const Series&, const Series&) = default;
  };
  /// Returns the series of a file. @throws Error(not_found | io).
  Series series_of(const std::string& path);
  /// Returns the files of a series, except the one at `path`, sorted by name. `series` must be a result of `series_of`
  /// that has an identifier.
  std::vector<std::string> others_of(const Series& series, const std::string& path) const;

 private:
  using Folder = std::pair<dev_t, ino_t>;
  void list(const Folder& folder, const std::string& path);
  // Paths of the files of each series, per folder.
  std::map<Folder, std::map<std::string, std::vector<std::string>>> folders_;
};

}  // namespace penstock::slide
