// SPDX-License-Identifier: Apache-2.0
#include "power_cut.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace penstock_test {

namespace fs = std::filesystem;

namespace {

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

void put(std::string& content, std::uint64_t offset, const std::string& bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
  content.replace(offset, bytes.size(), bytes);
}

}  // namespace

void RecordedDisk::name(const std::string& path, std::optional<std::size_t> inode) {
  changes_.push_back({path, inode});
  if (inode)
    now_[path] = *inode;
  else
    now_.erase(path);
}

std::size_t RecordedDisk::inode_of(const std::string& path) {
  const auto found = now_.find(path);
  if (found != now_.end()) return found->second;
  inodes_.emplace_back();
  return inodes_.size() - 1;
}

void RecordedDisk::sync_names_in(const std::string& folder) {
  for (Name& change : changes_)
    if (folder_of(change.path) == folder) change.synced = true;
}

bool RecordedDisk::take(const RecordedCall& call) {
  const bool writes = call.name == "write" || call.name == "pwrite" || call.name == "writev";
  if (call.failed != 0) throw std::runtime_error("a recorded call failed: " + call.name);
  std::string bytes;
  if (writes) {
    if (data_.size() < data_read_ + call.bytes) throw std::runtime_error("bytes of a write are missing");
    bytes = data_.substr(data_read_, call.bytes);
    data_read_ += call.bytes;
  }
  if (call.path.ends_with("/(temporary)")) return false;
  const auto there = now_.find(call.path);
  const bool is_file = there != now_.end() && there->second != a_folder;
  if (call.name == "open") {
    const bool above = call.path == folder_ || folder_of(call.path) == folder_ || now_.contains(folder_of(call.path));
    if (call.flags.find("created") != std::string::npos && there == now_.end() && above) {
      name(call.path, inode_of(call.path));
      return true;
    }
    if (call.flags.find("cut") == std::string::npos || !is_file) return false;
    inodes_[there->second].push_back({.cut_to = 0});
    return true;
  }
  if (writes) {
    if (!is_file) throw std::runtime_error("a write into what is not there: " + call.path);
    inodes_[there->second].push_back({.offset = static_cast<std::uint64_t>(call.offset),
                                      .bytes = std::move(bytes),
                                      .synced = call.flags == "synced"});
    return true;
  }
  if (call.name == "ftruncate" || call.name == "truncate") {
    if (is_file) inodes_[there->second].push_back({.cut_to = call.bytes});
    return is_file;
  }
  if (call.name == "fsync" || call.name == "fdatasync") {
    if (call.flags == "folder") sync_names_in(call.path);
    if (is_file)
      for (Write& write : inodes_[there->second]) write.synced = true;
    return true;
  }
  if (call.name == "syncfs") {
    for (std::vector<Write>& file : inodes_)
      for (Write& write : file) write.synced = true;
    for (Name& change : changes_) change.synced = true;
    return true;
  }
  if (call.name == "mkdir") {
    if (there != now_.end()) return false;
    name(call.path, a_folder);
    return true;
  }
  if (call.name == "linkat") {
    if (now_.contains(call.second)) return false;
    name(call.second, inode_of(call.path));  // of one without a name: a lock file, whose content nobody keeps
    return true;
  }
  if (call.name == "rename") {
    if (!is_file || !(folder_of(call.second) == folder_ || now_.contains(folder_of(call.second)))) return false;
    const std::size_t inode = there->second;
    name(call.second, inode);
    name(call.path, std::nullopt);
    return true;
  }
  if (call.name == "unlink" || call.name == "rmdir") {
    if (there == now_.end() || is_file != (call.name == "unlink")) return false;
    const bool filled = std::ranges::any_of(now_, [&](const auto& one) { return folder_of(one.first) == call.path; });
    if (filled) return false;
    name(call.path, std::nullopt);
    return true;
  }
  return false;
}

std::string RecordedDisk::content(const std::vector<Write>& writes, Left::Data left) {
  std::string content;
  std::size_t number = 0;
  for (const Write& write : writes) {
    const bool other = left == Left::Data::every_other_write && number++ % 2 == 0;
    if (!write.synced && (left == Left::Data::none || (left == Left::Data::every_other_write && !other))) continue;
    if (write.cut_to)
      content.resize(*write.cut_to);
    else
      put(content, write.offset,
          write.synced || left != Left::Data::zeros ? write.bytes : std::string(write.bytes.size(), '\0'));
  }
  return content;
}

// All folders above it are, too.
bool RecordedDisk::is_there(const Names& names, const std::string& folder, std::string path) {
  for (; path != folder; path = folder_of(path))
    if (path.size() <= folder.size() || !names.contains(path)) return false;
  return true;
}

RecordedDisk::Tree RecordedDisk::after_power_cut(const Left& left) const {
  Names names;
  for (const Name& change : changes_) {
    if (!left.names && !change.synced) continue;
    if (change.inode)
      names[change.path] = *change.inode;
    else
      names.erase(change.path);
  }
  Tree tree;
  for (const auto& [path, inode] : names) {
    if (!is_there(names, folder_, path)) continue;
    if (inode == a_folder)
      tree.emplace(path, std::nullopt);
    else
      tree.emplace(path, content(inodes_[inode], left.data));
  }
  return tree;
}

void RecordedDisk::put_back(const Tree& tree) const {
  fs::remove_all(folder_);
  fs::create_directory(folder_);
  for (const auto& [path, content] : tree)
    if (content)
      std::ofstream(path, std::ios::binary) << *content;
    else
      fs::create_directory(path);
}

}  // namespace penstock_test
