// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/listing.hpp>

namespace penstock::detection {

/// The name of a file in a folder: "0001" and ".jpg".
struct FileName {
  std::string stem, ending;
  std::string whole() const { return stem + ending; }
};

/// The files of one folder that have one of some endings, sorted by the bytes of their names without the ending.
class FileNames {
 public:
  FileNames() = default;
  /// Lists the folder. @throws Error(not_found | io); Error(invalid_argument) if two files differ only in their ending.
  FileNames(const std::string& folder, const std::vector<std::string>& endings, std::string_view source);

  std::size_t size() const noexcept { return files_.size(); }
  const FileName& operator[](std::size_t number) const noexcept { return files_[number]; }
  /// Returns the file of that name, or nothing.
  const FileName* find(std::string_view stem) const noexcept;
  /// Adds a line about the other files in the folder, if there are some.
  void add_note(std::vector<std::string>& notes) const;

 private:
  std::string folder_;
  std::vector<FileName> files_;
  SkippedEntries skipped_;
};

/// Endings of pictures, in lower case.
const std::vector<std::string>& picture_endings();

}  // namespace penstock::detection
