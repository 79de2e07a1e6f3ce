#include "isolation/find_reader.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <penstock/error.hpp>

#ifndef PENSTOCK_HDF5_READER_FOLDERS
#define PENSTOCK_HDF5_READER_FOLDERS ""
#endif
#ifndef PENSTOCK_HDF5_READER_INSTALLED
#define PENSTOCK_HDF5_READER_INSTALLED ""
#endif
#ifndef PENSTOCK_HDF5_READER_BUILT
#define PENSTOCK_HDF5_READER_BUILT ""
#endif

namespace penstock::hdf5 {

namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "penstock-hdf5-reader";

bool is_program(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// A folder that was there when this was built may be anybody's by now.
bool is_ours(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_uid == 0 || status.st_uid == ::geteuid());
}

// Folder of the file this code is in: a shared library, or the program itself.
fs::path folder_of_this() {
  static const char here = 0;
  Dl_info info{};
  if (::dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code failed;
  fs::path file = fs::canonical(info.dli_fname, failed);
  // A program's own name may be one that was looked for in PATH.
  if (failed) file = fs::canonical("/proc/self/exe", failed);
  return failed ? fs::path() : file.parent_path();
}

[[noreturn]] void none(const std::string& tried) {
  throw Error(Errc::not_found,
              "the program " + std::string(program_name) +
                  ", which reads HDF5 files that are not trusted, is not there; tried: " + tried +
                  ". It is installed with the component hdf5, in libexec: name it in `Hdf5::reader`, or in "
                  "PENSTOCK_HDF5_READER in the environment")
      .with_source("hdf5");
}

}  // namespace

std::string find_reader(const std::string& wanted) {
  if (!wanted.empty()) return is_program(wanted) ? wanted : (none(wanted + " (`Hdf5::reader`)"), wanted);
  if (const char* named = ::secure_getenv("PENSTOCK_HDF5_READER"); named != nullptr && *named != '\0')
    return is_program(named) ? named : (none(std::string(named) + " (PENSTOCK_HDF5_READER)"), named);
  std::string tried;
  const auto fits = [&](const fs::path& path) {
    if (path.empty()) return false;
    if (is_program(path)) return true;
    tried += (tried.empty() ? "" : ", ") + path.lexically_normal().string();
    return false;
  };
  if (const fs::path here = folder_of_this(); !here.empty()) {
    // Separated by ':', from where libraries and programs are installed.
    const std::string folders = PENSTOCK_HDF5_READER_FOLDERS;
    for (std::size_t at = 0; at < folders.size();) {
      const std::size_t end = std::min(folders.find(':', at), folders.size());
      if (const fs::path path = here / folders.substr(at, end - at) / program_name; fits(path)) return path;
      at = end + 1;
    }
    if (const fs::path path = here / program_name; fits(path)) return path;
  }
  for (const fs::path path : {PENSTOCK_HDF5_READER_INSTALLED, PENSTOCK_HDF5_READER_BUILT})
    if (fits(path)) {
      if (is_ours(path)) return path;
      tried += (tried.empty() ? "" : ", ") + path.string() + " (another user's)";
    }
  none(tried);
}

}  // namespace penstock::hdf5
