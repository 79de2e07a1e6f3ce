#include "links_out.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "output.hpp"

namespace penstock::cli {

namespace fs = std::filesystem;

namespace {

bool lies_in(const fs::path& path, const fs::path& folder) {
  const std::string text = path.string(), begin = folder.string();
  return text == begin || text.starts_with(begin.ends_with('/') ? begin : begin + "/");
}

}  // namespace

LinksOut links_out_of(const FilesSource& files) {
  LinksOut links;
  std::error_code failed;
  const fs::path root = fs::canonical(files.file(), failed);
  std::string folder;  // the last one that was looked at: files of one come together
  bool folder_is_out = false;
  for (std::uint64_t i = 0; !failed && i < files.size(); ++i) {
    const fs::path path = files.file_of(i);
    std::error_code unknown;
    if (const std::string parent = path.parent_path().string(); parent != folder) {
      folder = parent;
      folder_is_out = !lies_in(fs::weakly_canonical(parent, unknown), root);
    }
    const bool is_link = fs::is_symlink(fs::symlink_status(path, unknown));
    const bool is_out = is_link ? !lies_in(fs::weakly_canonical(path, unknown), root) : folder_is_out;
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
