#include "slide_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <penstock/error.hpp>

namespace penstock::coords {

namespace fs = std::filesystem;

namespace {

bool is_file_of_slide(const fs::directory_entry& entry) {
  const fs::path name = entry.path().filename();
  std::error_code failed;
  return name.extension() == ".h5" && !name.string().starts_with('.') && entry.is_regular_file(failed);
}

// Those in a folder and in those below it; or there alone.
std::vector<std::string> files_in(const fs::path& folder, bool below, std::string_view source) {
  std::vector<std::string> files;
  std::error_code failed;
  const auto look = [&](auto entries) {
    for (auto entry = std::move(entries); !failed && entry != decltype(entry)(); entry.increment(failed))
      if (is_file_of_slide(*entry)) files.push_back(entry->path().string());
  };
  if (below)
    look(fs::recursive_directory_iterator(folder, failed));
  else
    look(fs::directory_iterator(folder, failed));
  if (failed)
    throw Error(Errc::io, "the folder can't be listed: " + failed.message())
        .with_source(source)
        .with_file(folder.string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<SlideFile> files_below(const fs::path& folder, std::string_view source) {
  std::vector<SlideFile> found;
  for (const std::string& file : files_in(folder, true, source)) {
    std::string name = fs::path(file).lexically_relative(folder).string();
    name.resize(name.size() - fs::path(file).extension().string().size());
    found.push_back({file, std::move(name)});
  }
  return found;
}

}  // namespace

std::vector<SlideFile> find_slide_files(const std::string& path, const std::string& inner, std::string_view source) {
  const auto missing = [&](const std::string& why) {
    return Error(Errc::not_found, why).with_source(source).with_file(path);
  };
  std::error_code failed;
  if (!fs::exists(path, failed)) throw missing("there is no such file or folder");
  if (!fs::is_directory(path, failed)) return {{path, fs::path(path).stem().string()}};
  if (!files_in(path, false, source).empty()) return files_below(path, source);
  if (const fs::path folder = fs::path(path) / inner; fs::is_directory(folder, failed))
    if (std::vector<SlideFile> found = files_below(folder, source); !found.empty()) return found;
  throw missing("the folder has no files that end in .h5, nor has its folder `" + inner + "`");
}

}  // namespace penstock::coords
