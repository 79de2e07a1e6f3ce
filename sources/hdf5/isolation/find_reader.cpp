// SPDX-License-Identifier: Apache-2.0
#include "isolation/find_reader.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <penstock/error.hpp>

// The build sets these macros. READER_FOLDERS: the folders in which the program may be, relative to the library's
// folder. READER_FROM_HEADER: the program's folder, relative to the folder of the public header. READER_INSTALLED: the
// program's path in the prefix. READER_BUILT: the program's path in the build folder.
#ifndef PENSTOCK_HDF5_READER_FOLDERS
#define PENSTOCK_HDF5_READER_FOLDERS ""
#endif
#ifndef PENSTOCK_HDF5_READER_FROM_HEADER
#define PENSTOCK_HDF5_READER_FROM_HEADER ""
#endif
#ifndef PENSTOCK_HDF5_READER_INSTALLED
#define PENSTOCK_HDF5_READER_INSTALLED ""
#endif
#ifndef PENSTOCK_HDF5_READER_BUILT
#define PENSTOCK_HDF5_READER_BUILT ""
#endif
#ifndef PENSTOCK_HDF5_BUILD_FOLDER
#define PENSTOCK_HDF5_BUILD_FOLDER ""
#endif

namespace penstock::hdf5 {

namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "penstock-hdf5-reader";

bool is_program(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// Returns whether the program belongs to root or to this user. A path that was set at build time may belong to another
// user at run time.
bool is_ours(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_uid == 0 || status.st_uid == ::geteuid());
}

// Returns the folder of the file that has this code: a shared library, or the program.
fs::path folder_of_this() {
  static const char here = 0;
  Dl_info info{};
  if (::dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code failed;
  fs::path file = fs::canonical(info.dli_fname, failed);
  // If the shell found the program by PATH, `dli_fname` may be a name without a folder, so the system is asked.
  if (failed) file = fs::canonical("/proc/self/exe", failed);
  return failed ? fs::path() : file.parent_path();
}

// Returns whether `folder` is `parent` or in it.
bool lies_in(const fs::path& folder, const fs::path& parent) {
  std::error_code failed;
  const fs::path whole = fs::canonical(parent, failed);
  if (failed || folder.empty()) return false;
  return std::mismatch(whole.begin(), whole.end(), folder.begin(), folder.end()).first == whole.end();
}

struct ReaderCandidate {
  fs::path path;
  bool fixed;  ///< whether the path was set when the library or the user's program was compiled
};

// Lists where the program may be, the likeliest place first.
std::vector<ReaderCandidate> places(const std::string& header) {
  std::vector<ReaderCandidate> places;
  const fs::path here = folder_of_this();
  if (!here.empty()) {
    // The folders are separated by ':'. Each leads to the reader, from the folder of installed libraries or from that
    // of installed programs. `here` may be either of these, so all are tried.
    const std::string folders = PENSTOCK_HDF5_READER_FOLDERS;
    for (std::size_t at = 0; at < folders.size();) {
      const std::size_t end = std::min(folders.find(':', at), folders.size());
      places.push_back({here / folders.substr(at, end - at) / program_name, false});
      at = end + 1;
    }
    places.push_back({here / program_name, false});
  }
  // Ignores `header` if it is a relative path, because it is relative to the folder in which the compiler ran.
  const fs::path from_header = PENSTOCK_HDF5_READER_FROM_HEADER;
  if (const fs::path file = header; file.is_absolute() && !from_header.empty())
    places.push_back({file.parent_path() / from_header / program_name, true});
  if (lies_in(here, PENSTOCK_HDF5_BUILD_FOLDER)) places.push_back({PENSTOCK_HDF5_READER_BUILT, true});
  places.push_back({PENSTOCK_HDF5_READER_INSTALLED, true});
  return places;
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

std::string find_reader(const std::string& wanted, const std::string& header) {
  if (!wanted.empty()) return is_program(wanted) ? wanted : (none(wanted + " (`Hdf5::reader`)"), wanted);
  if (const char* named = ::secure_getenv("PENSTOCK_HDF5_READER"); named != nullptr && *named != '\0')
    return is_program(named) ? named : (none(std::string(named) + " (PENSTOCK_HDF5_READER)"), named);
  std::string tried;
  for (const auto& [path, fixed] : places(header)) {
    if (path.empty()) continue;
    const bool there = is_program(path);
    if (there && (!fixed || is_ours(path))) return path.lexically_normal();
    tried += (tried.empty() ? "" : ", ") + path.lexically_normal().string() + (there ? " (another user's)" : "");
  }
  none(tried);
}

}  // namespace penstock::hdf5
