// SPDX-License-Identifier: Apache-2.0
#include "staged_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/system_error.hpp>

#include "common/sinks/image_extension.hpp"
#include "errors.hpp"

namespace penstock::files {

namespace {

constexpr const char* staging_name = ".unfinished";
constexpr mode_t file_mode = 0664, folder_mode = 0777;

std::string with_extension(const std::string& stem, std::string_view extension) {
  return std::string(stem).append(".").append(extension);
}

// Calls `act` with the path of each folder above a file, the outermost first, until `act` returns false.
template <class Act>
void for_each_folder_of(const std::string& name, const Act& act) {
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
    if (!act(name.substr(0, slash))) return;
}

}  // namespace

std::string StagedFiles::path_of(std::string_view name) const { return (folder_ + "/").append(name); }

void StagedFiles::open() {
  if (open_) return;
  const int fd = uninterrupted([&] { return ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) throw system_error(errno, "opening the folder", folder_);
  open_.emplace(fd);
}

void StagedFiles::open_staging() {
  open();
  const std::string path = path_of(staging_name);
  if (uninterrupted([&] { return ::mkdirat(open_->get(), staging_name, folder_mode); }) != 0 && errno != EEXIST)
    throw write_error(errno, "making the folder", path, 0);
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int fd = uninterrupted([&] { return ::openat(open_->get(), staging_name, flags); });
  if (fd < 0) throw system_error(errno, "opening the folder", path);
  staging_.emplace(fd);
  int failed = 0;
  const std::vector<std::string> left = names_in_folder(path, failed);
  if (failed != 0) throw system_error(failed, "listing the folder", path);
  for (const std::string& name : left)
    if (uninterrupted([&] { return ::unlinkat(fd, name.c_str(), 0); }) != 0 && errno != ENOENT)
      throw system_error(errno, "removing", path + "/" + name);
}

StagedFiles::NameState StagedFiles::what_stands(const std::string& name) const {
  struct stat status {};
  if (::fstatat(open_->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
    return S_ISDIR(status.st_mode) ? NameState::folder : NameState::file;
  if (errno == ENOENT) return NameState::nothing;
  if (errno == ENOTDIR) return NameState::file_in_its_way;
  if (errno == ENAMETOOLONG) return NameState::name_too_long;
  throw system_error(errno, "looking for the file", path_of(name));
}

bool StagedFiles::is_file(const std::string& name) const { return what_stands(name) == NameState::file; }

void StagedFiles::use_extension(std::string_view extension) {
  const auto found = std::ranges::find(common::image_extensions, extension);
  if (found != common::image_extensions.end()) extensions_in_use_ |= 1u << (found - common::image_extensions.begin());
}

void StagedFiles::refuse(const std::string& name, std::string why, std::string_view key) const {
  throw error_in(path_of(name), Errc::invalid_argument, std::move(why)).with_key(key);
}

void StagedFiles::refuse_taken(const std::string& name, std::string_view key) const {
  refuse(name,
         "there is \"" + printable(name) +
             "\" already, as two records have one key as the name of a file, or somebody else put it there; set keys "
             "to position, or take that away",
         key);
}

void StagedFiles::require_new(const std::string& stem, std::string_view extension, std::string_view key) const {
  const std::string name = with_extension(stem, extension);
  const auto refuse_long = [&](const std::string& what) {
    refuse(name, what + " as the name of a file, which file systems don't have; set keys to position", key);
  };
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (end - begin > max_component_bytes)
      refuse_long("a part of the key has " + std::to_string(end - begin) + " bytes, more than " +
                  std::to_string(max_component_bytes) + ",");
    begin = end + 1;
  }
  for (std::size_t i = 0; i < common::image_extensions.size(); ++i) {
    if (((extensions_in_use_ >> i) & 1) == 0 || common::image_extensions[i] == extension) continue;
    const std::string other = with_extension(stem, common::image_extensions[i]);
    const auto found = names_.find(other);
    if ((found != names_.end() && found->second == Staged::file) || is_file(other)) refuse_taken(other, key);
  }
  if (names_.contains(name)) refuse_taken(name, key);
  for_each_folder_of(name, [&](const std::string& folder) {
    const auto found = names_.find(folder);
    if (found != names_.end() && found->second == Staged::file) refuse_taken(folder, key);
    return true;
  });
  switch (what_stands(name)) {
    case NameState::nothing:
      return;
    case NameState::file:
    case NameState::folder:
      refuse_taken(name, key);
    case NameState::file_in_its_way:
      refuse(name, "a file stands where the folder would be that the key asks for; set keys to position", key);
    case NameState::name_too_long:
      refuse_long("the key has " + std::to_string(name.size()) + " bytes");
  }
}

void StagedFiles::add(std::string name, std::span<const std::byte> bytes) {
  const std::size_t size = bytes.size();
  const auto fail = [&](int code) { throw write_error(code, "writing", path_of(name), size); };
  const std::string number = std::to_string(in_order_.size());
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int fd = uninterrupted([&] { return ::openat(staging_->get(), number.c_str(), flags, file_mode); });
  if (fd < 0) fail(errno);
  int failed = 0;
  while (!bytes.empty() && failed == 0) {
    const ssize_t put = uninterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (put <= 0)
      failed = put < 0 ? errno : EIO;
    else
      bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  // Some network file systems report a full disk only here.
  if (::close(fd) != 0 && errno != EINTR && failed == 0) failed = errno;
  if (failed != 0) fail(failed);
  for_each_folder_of(name, [&](const std::string& folder) {
    names_.emplace(folder, Staged::folder);
    return true;
  });
  use_extension(std::string_view(name).substr(name.rfind('.') + 1));
  in_order_.push_back(&names_.emplace(std::move(name), Staged::file).first->first);
}

// Syncs the whole file system, because a sync of each file and folder would wait for the disk each time.
void StagedFiles::sync() {
  if (uninterrupted([&] { return ::syncfs(open_->get()); }) != 0)
    throw write_error(errno, "syncing the file system of the folder", folder_, 0);
}

void StagedFiles::make_folders_of(const std::string& name) {
  for_each_folder_of(name, [&](const std::string& folder) {
    if (uninterrupted([&] { return ::mkdirat(open_->get(), folder.c_str(), folder_mode); }) != 0 && errno != EEXIST)
      throw write_error(errno, "making the folder", path_of(folder), 0);
    return true;
  });
}

void StagedFiles::give_names() {
  for (std::size_t i = 0; i < in_order_.size(); ++i) {
    const std::string number = std::to_string(i);
    const std::string& name = *in_order_[i];
    // Looks again, although `require_new` has accepted the name. On some file systems, names that differ only in upper
    // and lower case are the same name, so another staged file may have it now.
    if (what_stands(name) != NameState::nothing) refuse_taken(name, name);
    const auto rename = [&] {
      return uninterrupted([&] { return ::renameat(staging_->get(), number.c_str(), open_->get(), name.c_str()); });
    };
    int code = rename() == 0 ? 0 : errno;
    if (code == ENOENT) {
      make_folders_of(name);
      code = rename() == 0 ? 0 : errno;
    }
    if (code != 0) throw write_error(code, "giving a file its name", path_of(name), 0);
  }
  in_order_.clear();
  names_.clear();
}

void StagedFiles::remove(const std::string& name) {
  if (uninterrupted([&] { return ::unlinkat(open_->get(), name.c_str(), 0); }) != 0 && errno != ENOENT &&
      errno != ENOTDIR && errno != EISDIR)
    throw system_error(errno, "removing", path_of(name));
  std::string folder = name;
  for (std::size_t slash = 0; (slash = folder.rfind('/')) != std::string::npos;) {
    folder.resize(slash);
    if (uninterrupted([&] { return ::unlinkat(open_->get(), folder.c_str(), AT_REMOVEDIR); }) == 0) continue;
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) return;
    if (errno != ENOENT) throw system_error(errno, "removing the folder", path_of(folder));
  }
}

void StagedFiles::remove_staging() {
  open();
  staging_.reset();
  if (uninterrupted([&] { return ::unlinkat(open_->get(), staging_name, AT_REMOVEDIR); }) != 0 && errno != ENOENT)
    throw system_error(errno, "removing the folder", path_of(staging_name));
}

}  // namespace penstock::files
