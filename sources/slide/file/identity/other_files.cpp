// SPDX-License-Identifier: Apache-2.0
#include "file/identity/other_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>

#include "file/errors.hpp"
#include "file/identity/dicom.hpp"

namespace penstock::slide {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> regular_files_in(const fs::path& folder) {
  std::vector<std::string> files;
  int failed = 0;
  for (const auto& [name, kind, is_link] : entries_in_folder(folder.string(), failed))
    if (kind == EntryKind::file && !is_skipped(name)) files.push_back((folder / name).string());
  // A missing folder is not an error here. If the slide needs the folder, OpenSlide reports that.
  if (failed != 0 && failed != ENOENT && failed != ENOTDIR) throw system_error(failed, "listing", folder.string());
  std::ranges::sort(files);
  return files;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1) + "."; }

}  // namespace

PartialDigest sample_of_all(const std::vector<std::string>& files) {
  PartialDigest all;
  for (const std::string& path : files) {
    const auto file = open_file(path);
    const PartialDigest one = sample_of(file->get(), path);
    all.bytes += one.bytes;
    all.hash = all.hash * 0x9e3779b97f4a7c15 + one.hash;
  }
  return all;
}

std::vector<std::string> files_of_mirax(const std::string& path) {
  return regular_files_in(fs::path(path).replace_extension());
}

DicomFolders::Series DicomFolders::series_of(const std::string& path) {
  Series series{.identifier = dicom_series(path)};
  if (series.identifier.empty()) return series;
  struct stat folder {};
  if (::stat(folder_of(path).c_str(), &folder) != 0) throw system_error(errno, "looking at its folder", path);
  series.device = folder.st_dev;
  series.inode = folder.st_ino;
  list({series.device, series.inode}, path);
  return series;
}

void DicomFolders::list(const Folder& folder, const std::string& path) {
  const auto [known, fresh] = folders_.try_emplace(folder);
  if (!fresh) return;
  for (const std::string& file : regular_files_in(folder_of(path))) {
    try {
      if (std::string series = dicom_series(file); !series.empty()) known->second[series].push_back(file);
    } catch (const Error& failed) {
      if (!failed.sample_scoped()) throw;  // OpenSlide skips such a file, too
    }
  }
}

std::vector<std::string> DicomFolders::others_of(const Series& series, const std::string& path) const {
  std::vector<std::string> others;
  const std::string name = fs::path(path).filename().string();
  const auto& all = folders_.at({series.device, series.inode});
  const auto same = all.find(series.identifier);
  // If no listed file is of the series, the list lacks the file at `path`, too, for example because it is hidden.
  if (same == all.end()) return others;
  for (const std::string& file : same->second)
    if (fs::path(file).filename() != name) others.push_back(file);
  return others;
}

}  // namespace penstock::slide
