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

/// One rule for all listings of folders, of sources and of the tool. A listing skips hidden names and those of
/// operating systems. It passes over and counts all else that it doesn't take. Names given by the caller are always
/// taken.

/// The names in a folder except "." and "..", in no order. Sets `failed` to 0, or to the errno of the failure; the
/// names read before it are returned. Any thread. @throws std::bad_alloc, where std::filesystem's iterators end the
/// process.
PENSTOCK_API std::vector<std::string> names_in_folder(const std::string& folder, int& failed);

/// What lies in a folder under a name; of a link, what it leads to.
enum class EntryKind : std::uint8_t {
  file,    ///< a regular file
  folder,  ///< a folder
  none,    ///< a link that leads nowhere
  other    ///< a pipe, a device, or what can't be looked at
};

/// What stands in a folder.
struct FolderEntry {
  std::string name;                   ///< without the folder's
  EntryKind kind = EntryKind::other;  ///< what it is; of a link, what it leads to
  bool is_link = false;               ///< whether it is a link
};

/// As `names_in_folder`, with kinds. Looks at links only, and at other entries where the file system reports no kind.
PENSTOCK_API std::vector<FolderEntry> entries_in_folder(const std::string& folder, int& failed);

/// True for names that systems and archivers give to files and folders of their own: "Thumbs.db", "._a.svs",
/// "__MACOSX", "@eaDir", "lost+found". Upper and lower case count as the same.
PENSTOCK_API bool is_of_system(std::string_view name) noexcept;

/// Whether a listing skips a file or folder of that name: it begins with a dot, or `is_of_system`.
PENSTOCK_API bool is_skipped(std::string_view name) noexcept;

/// Whether a name ends so, in letters of either case: "A.TAR" ends in ".tar".
PENSTOCK_API bool has_ending(std::string_view name, std::string_view ending) noexcept;

/// Files and folders that a listing passed over. One thread at a time.
class PENSTOCK_API PassedOver {
 public:
  /// A file of that name.
  void add_file(std::string_view name);
  /// A folder, with all that is in it.
  void add_folder() { ++folders_; }
  /// What another listing passed over.
  void add(const PassedOver& other);
  /// Number of files.
  std::uint64_t files() const noexcept { return files_; }
  /// "12 files (.gz 8, .txt 4), 1 folder"; empty where there is none.
  std::string text() const;

 private:
  void count(const std::string& ending, std::uint64_t files);
  std::uint64_t files_ = 0, folders_ = 0;
  std::map<std::string, std::uint64_t> endings_;  // how many files each has; further endings are not kept
};

/// The entries of a folder, sorted by the bytes of their names. Skipped ones are not among them.
struct FolderListing {
  std::vector<std::string> files = {};    ///< paths of the files that `takes` wants
  std::vector<std::string> others = {};   ///< names of the other files
  std::vector<std::string> folders = {};  ///< names of folders
};

/// Lists a folder, and none below it. Its files are those whose names `takes` says yes to; a link that leads nowhere is
/// a file. @throws Error(not_found | io) with `source`.
PENSTOCK_API FolderListing list_files(const std::string& folder, const std::function<bool(std::string_view)>& takes,
                                      std::string_view source);

/// Whether a listing of shards is silent about a file or folder of that name, as Penstock makes it beside them: a
/// journal, a lock, a list of classes, a report.
PENSTOCK_API bool is_beside_shards(std::string_view name) noexcept;

/// The folder on the way to a file that is missing, or is no folder; empty where all are there.
PENSTOCK_API std::string missing_folder(const std::string& file);

/// How many of the pattern's bytes name folders that are there, whatever characters they have: they stand for
/// themselves.
PENSTOCK_API std::size_t literal_folders(std::string_view pattern);

/// Finds a path, or what a pattern names. A path that is there stands for itself. Else `*`, `?` and `[` make it a
/// pattern. Files and folders that fit are sorted by their bytes; those for which `is_skipped` holds are left out.
/// Folders that are there stand for themselves, whatever characters they have, and so does what stands before the last
/// `*`, where that finds anything: shards in "run[1]" are "run[1]/x-*.tar", and those of "x?" are "x?-*.tar". `braces`:
/// {a,b} stands for either. @throws Error(not_found) where nothing has a name of the pattern, which names the folder
/// that is missing, and Error(io) with the folder where one of it can't be read, with `source`.
PENSTOCK_API std::vector<std::string> files_of_pattern(const std::string& path, std::string_view source,
                                                       bool braces = false);

}  // namespace penstock
