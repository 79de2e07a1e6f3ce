// SPDX-License-Identifier: Apache-2.0
#include "library/other_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <penstock/extend/system_error.hpp>

#include "library/driver.hpp"

namespace penstock::hdf5 {

namespace {

// Returns the absolute path of a file's folder, with a '/' at the end.
std::string folder_of(const std::string& file) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(file, failed);
  const std::string text = failed ? file : whole.string();
  return text.substr(0, text.rfind('/') + 1);
}

// If `file` is a symbolic link, returns the folder of the file to which the link leads. Returns an empty text if `file`
// is not a link, or leads nowhere.
std::string linked_folder_of(const std::string& file) {
  std::error_code failed;
  if (!std::filesystem::is_symlink(file, failed)) return {};
  const std::filesystem::path real = std::filesystem::canonical(file, failed);
  return failed ? std::string() : folder_of(real.string());
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.back() == '/' ? folder + name : folder + "/" + name;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::string with_origin(const std::string& prefix, const std::string& folder) {
  constexpr std::string_view origin = "${ORIGIN}";
  return prefix.starts_with(origin) ? folder + prefix.substr(origin.size()) : prefix;
}

// Returns the paths at which the library looks for the file `name`, in the library's order. `by`: the file that has
// this name in it.
std::vector<std::string> places_of(const std::string& name, const std::string& by, NamedBy how) {
  std::vector<std::string> places;
  const auto add = [&](const std::string& place) {
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  };
  std::string last = name;
  if (name.starts_with('/')) {
    add(name);
    last = name.substr(name.rfind('/') + 1);
  }
  const std::string folder = folder_of(by);
  const std::string set = variable(how == NamedBy::link ? "HDF5_EXT_PREFIX" : "HDF5_VDS_PREFIX");
  for (std::size_t begin = 0; begin < set.size();) {
    const std::size_t end = std::min(set.find(':', begin), set.size());
    if (end > begin) add(joined(set.substr(begin, end - begin), last));
    begin = end + 1;
  }
  if (how == NamedBy::virtual_dataset && !set.empty() && set != ".") add(joined(with_origin(set, folder), last));
  add(joined(folder, last));
  add(last);
  if (const std::string linked = linked_folder_of(by); !linked.empty()) add(joined(linked, last));
  return places;
}

// Returns why a file can't be read, or an empty text if it can be read. Sets `state` if it can be read. Sets `there` to
// false if the path does not exist, otherwise to true.
std::string why_unreadable(const std::string& path, FileState& state, bool& there) {
  const auto says = [](int error) { return std::generic_category().message(error); };
  struct stat status {};
  there = ::stat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
  if (!there) return "there is no such file";
  const int fd = uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (fd < 0) return "it can't be opened: " + says(errno);
  const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  ::close(fd);
  if (!regular) return "it is no regular file";
  state = state_of(status);
  return {};
}

}  // namespace

OtherFile open_named_file(const std::string& name, hid_t by, NamedBy how) {
  OtherFile found;
  found.path = name;
  std::string missing;
  for (const std::string& place : places_of(name, file_name_of(by), how)) {
    bool there = false;
    FileState state;
    std::string problem = why_unreadable(place, state, there);
    if (problem.empty()) {
      std::string said;
      found.file = open_through_driver(place.c_str(), said);
      if (found.file) {
        found.path = place;
        found.problem.clear();
        found.state = state;
        return found;
      }
      problem = "it can't be opened, as where it was cut short: " + said;
    }
    // The first unreadable file is reported. The places without a file are reported only if there is no unreadable
    // file.
    if (there && found.problem.empty()) {
      found.path = place;
      found.problem = problem;
    }
    missing += (missing.empty() ? " at '" : ", '") + place + "'";
  }
  if (found.problem.empty()) found.problem = "there is no such file" + missing;
  return found;
}

OtherFile find_raw_file(const std::string& name, hid_t by) {
  OtherFile found;
  const std::string prefix = variable("HDF5_EXTFILE_PREFIX");
  const bool relative = !name.starts_with('/');
  found.path = !relative || prefix.empty() || prefix == "."
                   ? name
                   : joined(with_origin(prefix, folder_of(file_name_of(by))), name);
  bool there = false;
  found.problem = why_unreadable(found.path, found.state, there);
  if (!there && relative)
    found.problem += prefix.empty()
                         ? " in the process's folder, where HDF5 looks for it; for the folder of the HDF5 file set "
                           "HDF5_EXTFILE_PREFIX='${ORIGIN}' in the environment"
                         : ", by HDF5_EXTFILE_PREFIX in the environment";
  return found;
}

std::string file_name_of(hid_t object) {
  const ssize_t length = H5Fget_name(object, nullptr, 0);
  if (length <= 0) return {};
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Fget_name(object, name.data(), name.size());
  name.pop_back();
  return name;
}

FileState state_of(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? state_of(status) : FileState{};
}

}  // namespace penstock::hdf5
