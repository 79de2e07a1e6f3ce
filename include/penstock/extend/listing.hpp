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

/// All listings of folders, in sources and in the tool, follow the same rules. A listing leaves out hidden names, and
/// names that operating systems use for themselves. If a listing does not take one of the other entries, it skips and
/// counts the entry. A file or folder that the caller names is always taken.

/// Returns the names in a folder except "." and "..", in any order. Sets `failed` to 0, or to the errno of a failure.
/// After a failure, returns the names that were read before it. Any thread.
/// @throws std::bad_alloc. (The iterators of std::filesystem would end the process instead.)
PENSTOCK_API std::vector<std::string> names_in_folder(const std::string& folder, int& failed);

/// What an entry of a folder is. For a link, what the link leads to.
enum class EntryKind : std::uint8_t {
  file,    ///< a regular file
  folder,  ///< a folder
  none,    ///< a link that leads nowhere, or to something that can't be looked at
  other    ///< a pipe, a device, or an entry that can't be looked at and is not a link
};

/// One entry of a folder.
struct FolderEntry {
  std::string name;                   ///< name without the folder
  EntryKind kind = EntryKind::other;  ///< what the entry is; for a link, what it leads to
  bool is_link = false;               ///< whether the entry is a link
};

/// Returns the entries of a folder, like `names_in_folder`, with their kinds. Asks the system only about links, and
/// about entries whose kind the file system does not report.
PENSTOCK_API std::vector<FolderEntry> entries_in_folder(const std::string& folder, int& failed);

/// Whether systems and archivers give this name to their own files and folders: "Thumbs.db", "._a.svs", "__MACOSX",
/// "@eaDir", "lost+found". Upper and lower case make no difference.
PENSTOCK_API bool is_of_system(std::string_view name) noexcept;

/// Whether a listing leaves out a file or folder of that name. True if the name begins with a dot, or if `is_of_system`
/// holds for it.
PENSTOCK_API bool is_skipped(std::string_view name) noexcept;

/// Whether a name has this ending. Upper and lower case make no difference: "A.TAR" ends in ".tar".
PENSTOCK_API bool has_ending(std::string_view name, std::string_view ending) noexcept;

/// Counts files and folders that a listing skipped. One thread at a time.
class PENSTOCK_API SkippedEntries {
 public:
  /// Counts a file of that name.
  void add_file(std::string_view name);
  /// Counts a folder. What is in the folder is not counted.
  void add_folder() { ++folders_; }
  /// Adds what another listing skipped.
  void add(const SkippedEntries& other);
  /// Number of files that were counted.
  std::uint64_t files() const noexcept { return files_; }
  /// Returns "12 files (.gz 8, .txt 4), 1 folder", or "" if nothing was counted.
  std::string text() const;

 private:
  void count(const std::string& ending, std::uint64_t files);
  std::uint64_t files_ = 0, folders_ = 0;
  std::map<std::string, std::uint64_t> endings_;  // number of files per ending, for a limited number of endings
};

/// The entries of a folder, sorted by the bytes of their names, without entries that a listing leaves out.
struct FolderListing {
  std::vector<std::string> files = {};    ///< paths of the files that `takes` accepts
  std::vector<std::string> others = {};   ///< names of the other files
  std::vector<std::string> folders = {};  ///< names of folders
};

/// Lists a folder without its subfolders. `files` has the files whose names `takes` accepts. Everything that is not a
/// folder counts as a file, also a link that leads nowhere.
/// @throws Error(not_found | io) with `source`.
PENSTOCK_API FolderListing list_files(const std::string& folder, const std::function<bool(std::string_view)>& takes,
                                      std::string_view source);

/// Whether Penstock makes files or folders of that name beside shards: a journal, a lock, a list of classes, an index
/// file, a report. A listing of shards does not count these files and folders as skipped.
PENSTOCK_API bool is_beside_shards(std::string_view name) noexcept;

/// Returns the beginning of a file's path up to the first folder that does not exist, or that is not a folder. Returns
/// "" if all folders exist. Also returns "" if the system does not let this process look into one of them.
PENSTOCK_API std::string missing_folder(const std::string& file);

/// Returns the length in bytes of the pattern's beginning that consists of existing folders, including the '/' after
/// the last of them. Special characters in this beginning are ordinary characters.
PENSTOCK_API std::size_t literal_folders(std::string_view pattern);

/// Finds a path, or the files and folders that a pattern names. A path that exists, or has no special character, is
/// returned as it is. Otherwise the special characters `*`, `?` and `[` make `path` a pattern. With `braces`, {a,b}
/// matches a and b. Matches are sorted by their bytes. `*`, `?` and `[` at the beginning of a name do not match a dot.
/// A match with a name for which `is_of_system` holds is left out, if this name is not in `path`. Special characters in
/// the names of existing folders are ordinary characters: "run[1]/x-*.tar" finds shards in the folder "run[1]". The
/// rest of the path is searched at most twice. The first search treats only the last `*` of the rest as special:
/// "x?-*.tar" finds the shards of "x?". If the first search finds nothing, the second treats all special characters as
/// special.
/// @throws Error(not_found) if nothing matches the pattern. If a folder of the pattern is missing, and its path has no
/// special characters, the error names the folder.
/// @throws Error(io) if a folder of the pattern can't be read. The error names the folder. Both errors name `source`.
PENSTOCK_API std::vector<std::string> files_of_pattern(const std::string& path, std::string_view source,
                                                       bool braces = false);

}  // namespace penstock
