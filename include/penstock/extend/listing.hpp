// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/export.hpp>

namespace penstock {

/// All listings of folders, in sources and in the tool, follow one rule. A listing leaves out hidden names and names of
/// operating systems. It skips and counts all other entries that it does not take. Names given by the caller are always
/// taken.

/// Returns the names in a folder except "." and "..", in no order. Sets `failed` to 0, or to the errno of the failure.
/// After a failure it returns the names read before. Any thread.
/// @throws std::bad_alloc, for which std::filesystem's iterators would end the process.
PENSTOCK_API std::vector<std::string> names_in_folder(const std::string& folder, int& failed);

/// What has a name in a folder. For a link: what it leads to.
enum class EntryKind : std::uint8_t {
  file,    ///< a regular file
  folder,  ///< a folder
  none,    ///< a link that leads nowhere
  other    ///< a pipe, a device, or something that can't be looked at
};

/// One entry of a folder.
struct FolderEntry {
  std::string name;                   ///< name without the folder
  EntryKind kind = EntryKind::other;  ///< what the entry is; for a link, what it leads to
  bool is_link = false;               ///< whether the entry is a link
};

/// Like `names_in_folder`, with kinds. Asks the system about links only, and about other entries if the file system
/// reports no kind.
PENSTOCK_API std::vector<FolderEntry> entries_in_folder(const std::string& folder, int& failed);

/// Whether systems and archivers give this name to their own files and folders: "Thumbs.db", "._a.svs", "__MACOSX",
/// "@eaDir", "lost+found". Upper and lower case are equal.
PENSTOCK_API bool is_of_system(std::string_view name) noexcept;

/// Whether a listing leaves out a file or folder of that name: it begins with a dot, or `is_of_system`.
PENSTOCK_API bool is_skipped(std::string_view name) noexcept;

/// Whether a name has this ending, in upper or lower case: "A.TAR" ends in ".tar".
PENSTOCK_API bool has_ending(std::string_view name, std::string_view ending) noexcept;

/// Counts files and folders that a listing skipped. One thread at a time.
class PENSTOCK_API PassedOver {
 public:
  /// Counts a file of that name.
  void add_file(std::string_view name);
  /// Counts a folder, with all that is in it.
  void add_folder() { ++folders_; }
  /// Adds what another listing skipped.
  void add(const PassedOver& other);
  /// Number of files.
  std::uint64_t files() const noexcept { return files_; }
  /// Returns "12 files (.gz 8, .txt 4), 1 folder", or "" if nothing was skipped.
  std::string text() const;

 private:
  void count(const std::string& ending, std::uint64_t files);
  std::uint64_t files_ = 0, folders_ = 0;
  std::map<std::string, std::uint64_t> endings_;  // number of files per ending; further endings are not kept
};

/// The entries of a folder, sorted by the bytes of their names, without those that a listing leaves out.
struct FolderListing {
  std::vector<std::string> files = {};    ///< paths of the files that `takes` accepts
  std::vector<std::string> others = {};   ///< names of the other files
  std::vector<std::string> folders = {};  ///< names of folders
};

/// Lists a folder without its subfolders. `files` are those whose names `takes` accepts. A link that leads nowhere is a
/// file.
/// @throws Error(not_found | io) with `source`.
PENSTOCK_API FolderListing list_files(const std::string& folder, const std::function<bool(std::string_view)>& takes,
                                      std::string_view source);

/// Whether a listing of shards says nothing about a file or folder of that name. Penstock makes these beside shards: a
/// journal, a lock, a list of classes, a report.
PENSTOCK_API bool is_beside_shards(std::string_view name) noexcept;

/// Returns the first folder of a file's path that is missing or is not a folder, or "" if all folders exist.
PENSTOCK_API std::string missing_folder(const std::string& file);

/// Returns how many bytes at the pattern's beginning name existing folders. Special characters in these bytes are
/// ordinary.
PENSTOCK_API std::size_t literal_folders(std::string_view pattern);

/// Finds a path, or the files and folders that a pattern names. An existing path is returned as it is. Otherwise `*`,
/// `?` and `[` make `path` a pattern. Matches are sorted by their bytes; those for which `is_skipped` holds are left
/// out. Special characters in the names of existing folders are ordinary. So are those before the last `*`, if that
/// finds anything: shards in "run[1]" are "run[1]/x-*.tar", and shards of "x?" are "x?-*.tar". With `braces`, {a,b}
/// matches a and b.
/// @throws Error(not_found) if nothing matches the pattern; it names a missing folder.
/// @throws Error(io) if a folder of the pattern can't be read; it names the folder. Both name `source`.
PENSTOCK_API std::vector<std::string> files_of_pattern(const std::string& path, std::string_view source,
                                                       bool braces = false);

}  // namespace penstock
