#include "common/file_pattern.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::common {

std::vector<std::string> files_of_pattern(const std::string& path, std::string_view source) {
  struct stat status {};
  const bool pattern = ::stat(path.c_str(), &status) != 0 && path.find_first_of("*?[") != std::string::npos;
  if (!pattern) return {path};
  glob_t found{};
  const int failed = ::glob(path.c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + (failed == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  if (failed == GLOB_NOMATCH || (failed == 0 && files.empty()))
    throw file_error(source, path, Errc::not_found, "no file has a name of this pattern");
  if (failed != 0) throw file_error(source, path, Errc::io, "a folder of this pattern can't be read");
  // Not as the locale sorts.
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace penstock::common
