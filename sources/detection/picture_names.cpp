// SPDX-License-Identifier: Apache-2.0
#include "picture_names.hpp"

#include <algorithm>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>

#include "common/file_errors.hpp"
#include "errors.hpp"

namespace penstock::detection {

FileNames::FileNames(const std::string& folder, const std::vector<std::string>& endings, std::string_view source)
    : folder_(folder) {
  const auto takes = [&endings](std::string_view name) {
    return std::any_of(endings.begin(), endings.end(), [&](const std::string& e) { return has_ending(name, e); });
  };
  const FolderListing listing = list_files(folder, takes, source);
  for (const std::string& name : listing.others) skipped_.add_file(name);
  for (std::size_t i = 0; i < listing.folders.size(); ++i) skipped_.add_folder();
  for (const std::string& path : listing.files) {
    const std::size_t begin = path.rfind('/') + 1, dot = path.rfind('.');
    files_.push_back({path.substr(begin, dot - begin), path.substr(dot)});
  }
  const auto by_stem = [](const FileName& a, const FileName& b) { return a.stem < b.stem; };
  std::stable_sort(files_.begin(), files_.end(), by_stem);
  const auto same = std::adjacent_find(files_.begin(), files_.end(),
                                       [](const FileName& a, const FileName& b) { return a.stem == b.stem; });
  if (same != files_.end())
    throw common::FileError{source}(folder, Errc::invalid_argument,
                                    "the files \"" + shown(same[0].whole()) + "\" and \"" + shown(same[1].whole()) +
                                        "\" differ only in their ending; remove or rename one");
}

const FileName* FileNames::find(std::string_view stem) const noexcept {
  const auto found = std::lower_bound(files_.begin(), files_.end(), stem,
                                      [](const FileName& file, std::string_view name) { return file.stem < name; });
  return found != files_.end() && found->stem == stem ? &*found : nullptr;
}

void FileNames::add_note(std::vector<std::string>& notes) const {
  if (const std::string text = skipped_.text(); !text.empty())
    notes.push_back("passed over in " + folder_ + ": " + text);
}

const std::vector<std::string>& picture_endings() {
  static const std::vector<std::string> endings{".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"};
  return endings;
}

}  // namespace penstock::detection
