// SPDX-License-Identifier: Apache-2.0
#include "stores/links_out.hpp"

#include <dirent.h>

#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#include "console/output.hpp"

namespace penstock::cli {

namespace fs = std::filesystem;

namespace {

bool lies_in(const fs::path& path, const fs::path& folder) {
  const std::string text = path.string(), begin = folder.string();
  return text == begin || text.starts_with(begin.ends_with('/') ? begin : begin + "/");
}

struct Folder {
  bool is_out = false;
  // Names of links, and of entries whose kind the file system doesn't report, because they may be links.
  std::set<std::string, std::less<>> links = {};
};

Folder look_at(const fs::path& path, const fs::path& root) {
  std::error_code unknown;
  Folder folder{.is_out = !lies_in(fs::weakly_canonical(path, unknown), root)};
  const std::unique_ptr<DIR, decltype([](DIR* d) { closedir(d); })> open(opendir(path.c_str()));
  while (const dirent* const entry = open ? readdir(open.get()) : nullptr)
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) folder.links.emplace(entry->d_name);
  return folder;
}

}  // namespace

LinksOut links_out_of(const FilesSource& files) {
  LinksOut links;
  std::error_code failed;
  const fs::path root = fs::canonical(files.file(), failed);
  std::unordered_map<std::string, Folder> folders;
  for (std::uint64_t i = 0; !failed && i < files.size(); ++i) {
    const fs::path path = files.file_of(i), parent = path.parent_path();
    auto folder = folders.find(parent.string());
    if (folder == folders.end()) folder = folders.emplace(parent.string(), look_at(parent, root)).first;
    std::error_code unknown;
    const bool is_link =
        folder->second.links.contains(path.filename().string()) && fs::is_symlink(fs::symlink_status(path, unknown));
    const bool is_out = is_link ? !lies_in(fs::weakly_canonical(path, unknown), root) : folder->second.is_out;
    if (is_out && links.files++ == 0) links.first = files.path(i);
  }
  return links;
}

std::string links_out_text(const LinksOut& links) {
  if (links.files == 0) return {};
  return fmt::format("links: {} in other folders, where links lead{}: {}",
                     counted(links.files, "file") + (links.files == 1 ? " lies" : " lie"),
                     links.files == 1 ? "" : ", the first", printable(links.first));
}

}  // namespace penstock::cli
