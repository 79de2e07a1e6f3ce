// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/listing.hpp>

#include "common/path_table.hpp"

namespace penstock::files {

using common::PathTable;

struct FolderContent {
  std::vector<std::string> files;    ///< paths relative to the folder, unordered
  std::vector<std::string> folders;  ///< names of the folders directly in it, sorted by bytes
  /// Regular files that are not in `files`, because they have none of the extensions. Does not count the files that a
  /// FilesSink has added to the folder itself.
  SkippedEntries passed_over;
  std::uint64_t broken_links = 0;  ///< links that can't be followed; they may lead to files or to folders
};

/// Returns whether a file's name has one of the extensions. If `extensions` is empty, returns true. `extensions`: in
/// lower case.
bool has_extension(std::string_view name, const std::vector<std::string>& extensions);

/// Lists every regular file with one of the extensions, at any depth. If `extensions` is empty, lists every regular
/// file. Leaves out files and folders for which `is_skipped` is true. `extensions`: in lower case.
/// @throws Error(not_found | io); Error(invalid_argument) for a folder that a FilesSink has not finished;
/// Error(limit_exceeded) if links lead to the same folders on too many paths.
FolderContent list_folder(const std::string& root, const std::vector<std::string>& extensions);

}  // namespace penstock::files
