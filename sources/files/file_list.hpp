#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/listing.hpp>

namespace penstock::files {

/// Many paths in little memory, each followed by a zero byte, as the system wants them.
class PathTable {
 public:
  void add(std::string_view path);
  std::uint64_t size() const noexcept { return ends_.size(); }
  /// Its `data()` ends in a zero byte.
  std::string_view operator[](std::uint64_t index) const noexcept {
    const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
    return {bytes_.data() + begin, static_cast<std::size_t>(ends_[index] - begin - 1)};
  }

 private:
  std::string bytes_;
  std::vector<std::uint64_t> ends_;
};

struct FolderContent {
  std::vector<std::string> files;    ///< paths below the folder, in no order
  std::vector<std::string> folders;  ///< names of the folders just below it, sorted by bytes
  PassedOver passed_over;            ///< regular files with other extensions, but for the table of FilesSink
  std::uint64_t broken_links = 0;    ///< links that can't be followed: whether to a file or to a folder isn't known
};

/// Whether a file's name has one of the extensions (lower case; none = all).
bool has_extension(std::string_view name, const std::vector<std::string>& extensions);

/// Every regular file with one of the extensions (lower case; none = all), at any depth, but for what `is_skipped`.
/// @throws Error(not_found | io); Error(invalid_argument) for a folder that a FilesSink has not finished.
FolderContent list_folder(const std::string& root, const std::vector<std::string>& extensions);

}  // namespace penstock::files
