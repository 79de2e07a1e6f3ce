// SPDX-License-Identifier: Apache-2.0
#include "file_list.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <unordered_set>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "common/shard_names.hpp"
#include "errors.hpp"
#include "table_name.hpp"

namespace penstock::files {

namespace {

struct FolderId {
  dev_t device;
  ino_t inode;
  friend bool operator==(const FolderId&, const FolderId&) = default;
};

struct FolderIdHash {
  std::size_t operator()(const FolderId& id) const noexcept {
    return std::hash<std::uint64_t>()(id.device * 0x9e3779b97f4a7c15 + id.inode);
  }
};

// A folder on the path to another folder. A link to a folder on the link's own path is skipped: following it would
// never end.
struct AncestorFolder {
  FolderId id;
  std::shared_ptr<const AncestorFolder> above;
};

// A folder that is still to be listed.
struct Pending {
  std::string path;                             // relative to the root, with a slash at the end; empty for the root
  std::shared_ptr<const AncestorFolder> above;  // the folder that contains it
};

// How many folders and entries were read. If links lead to too many of them, the listing is refused.
struct ReadSoFar {
  std::uint64_t folders = 0, entries = 0;
};

class Lister {
 public:
  Lister(const std::string& root, const std::vector<std::string>& extensions) : root_(root), extensions_(extensions) {}

  FolderContent list() {
    pending_.push_back({});
    while (!pending_.empty()) {
      Pending next = std::move(pending_.back());
      pending_.pop_back();
      read(std::move(next));
    }
    std::sort(content_.folders.begin(), content_.folders.end());
    return std::move(content_);
  }

 private:
  void read(Pending folder) {
    const std::string path = root_ + "/" + folder.path;
    const std::unique_ptr<DIR, decltype([](DIR* d) { closedir(d); })> open(opendir(path.c_str()));
    if (!open) throw system_error(errno, "listing a folder", path);
    struct stat status {};
    if (fstat(dirfd(open.get()), &status) != 0) throw system_error(errno, "listing a folder", path);
    const FolderId id{status.st_dev, status.st_ino};
    for (const AncestorFolder* one = folder.above.get(); one != nullptr; one = one->above.get())
      if (one->id == id) return;
    if (folder.above != nullptr && folder.above->above == nullptr)
      content_.folders.push_back(folder.path.substr(0, folder.path.size() - 1));
    folder.above = std::make_shared<const AncestorFolder>(AncestorFolder{id, std::move(folder.above)});
    ReadSoFar& counted = seen_.insert(id).second ? once_ : again_;
    ++counted.folders;

    while (true) {
      errno = 0;
      const dirent* entry = readdir(open.get());
      if (entry == nullptr && errno != 0) throw system_error(errno, "listing a folder", path);
      if (entry == nullptr) return;
      if (is_skipped(entry->d_name)) continue;
      ++counted.entries;
      if (again_.folders > often * once_.folders + some_folders ||
          again_.entries > often * once_.entries + some_entries)
        refuse(folder.path);
      add(*entry, dirfd(open.get()), folder);
    }
  }

  [[noreturn]] void refuse(const std::string& path) const {
    throw error_in(root_, Errc::limit_exceeded,
                   "links lead to the same folders on too many ways: " + std::to_string(once_.folders) +
                       " folders were read " + std::to_string(again_.folders) + " times more, the last one as \"" +
                       printable(path) + "\"; leave out links that lead to folders with links in them");
  }

  void add(const dirent& entry, int folder_fd, const Pending& folder) {
    unsigned char type = entry.d_type;
    if (type == DT_LNK || type == DT_UNKNOWN) {
      struct stat status {};
      if (fstatat(folder_fd, entry.d_name, &status, 0) != 0) {
        if (type == DT_LNK) ++content_.broken_links;
        return;
      }
      type = S_ISDIR(status.st_mode) ? DT_DIR : S_ISREG(status.st_mode) ? DT_REG : DT_UNKNOWN;
    }
    if (type == DT_REG && entry.d_name == mark_name)
      common::refuse_unfinished({root_ + "/" + folder.path + std::string(table_name)}, "", source_name);
    if (type == DT_DIR) {
      pending_.push_back({folder.path + entry.d_name + "/", folder.above});
    } else if (type == DT_REG && !has_extension(entry.d_name, extensions_)) {
      if (!folder.path.empty() || !is_of_sink(entry.d_name)) content_.passed_over.add_file(entry.d_name);
    } else if (type == DT_REG) {
      content_.files.push_back(folder.path + entry.d_name);
    }
  }

  const std::string& root_;
  const std::vector<std::string>& extensions_;
  std::vector<Pending> pending_;
  std::unordered_set<FolderId, FolderIdHash> seen_;
  ReadSoFar once_, again_;  // what was read on the first path to each folder, and on further paths
  // The limits for further paths. A user may link a folder as several classes, or as a part of several classes. But if
  // every link leads to a folder of links, there are more paths than a user can mean.
  static constexpr std::uint64_t often = 16, some_folders = 10'000, some_entries = 1'000'000;
  FolderContent content_;
};

}  // namespace

bool has_extension(std::string_view name, const std::vector<std::string>& extensions) {
  if (extensions.empty()) return true;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string extension(name.substr(dot + 1));
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

FolderContent list_folder(const std::string& root, const std::vector<std::string>& extensions) {
  return Lister(root, extensions).list();
}

}  // namespace penstock::files
