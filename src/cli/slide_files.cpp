#include "slide_files.hpp"

#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <penstock/error.hpp>

namespace penstock::cli {

namespace fs = std::filesystem;

bool names_slide(const std::string& path) {
  // The last ones OpenSlide reads.
  constexpr std::array<std::string_view, 11> endings{".svs", ".tif", ".tiff", ".ndpi",    ".mrxs", ".scn",
                                                     ".bif", ".vms", ".vmu",  ".svslide", ".dcm"};
  std::string small = path;
  std::ranges::transform(small, small.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::ranges::any_of(endings, [&](std::string_view ending) { return small.ends_with(ending); });
}

std::vector<std::string> slide_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code failed;
    std::vector<std::string> found;
    if (fs::is_directory(argument, failed)) {
      for (fs::directory_iterator entry(argument, failed); !failed && entry != fs::directory_iterator();
           entry.increment(failed))
        if (names_slide(entry->path().string())) found.push_back(entry->path().string());
      if (failed) throw Error(Errc::io, "the folder can't be listed: " + failed.message()).with_file(argument);
      if (found.empty())
        throw Error(Errc::not_found, "the folder has no slides in it: *.svs, *.tif, *.ndpi, *.mrxs, *.dcm and so on")
            .with_file(argument);
    } else if (!fs::exists(argument, failed) && argument.find_first_of("{*?[") != std::string::npos) {
      ::glob_t matches{};
      if (::glob(argument.c_str(), GLOB_BRACE, nullptr, &matches) == 0)
        found.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
      ::globfree(&matches);
      if (found.empty()) throw Error(Errc::not_found, "there is no file of this name").with_file(argument);
    } else {
      if (!fs::exists(argument, failed)) throw Error(Errc::not_found, "there is no such file").with_file(argument);
      found.push_back(argument);
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace penstock::cli
