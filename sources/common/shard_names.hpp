// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::common {

/// The paths of the files of a store that is written as shards "PATH-000000.EXTENSION", or as one file. If the store
/// is one file, "PATH.EXTENSION" means this file's path in the comments of this class.
class ShardNames {
 public:
  /// `extension`: including its dot. With `single_file`, `path` includes the extension.
  ShardNames(std::string path, std::string_view extension, bool single_file = false)
      : path_(std::move(path)), extension_(extension), single_file_(single_file) {}

  /// Returns the file that marks the store as unfinished: "PATH.EXTENSION-unfinished.json".
  std::string mark() const { return beside("json"); }
  /// Returns another file of an unfinished store: "PATH.EXTENSION-unfinished.ENDING".
  std::string beside(std::string_view ending) const { return name() + "-unfinished." + std::string(ending); }
  /// Returns the file that records what made a finished store: "PATH.EXTENSION-made-by.json".
  std::string made_by() const { return name() + "-made-by.json"; }
  /// Returns the path of shard `number`, "PATH-000042.tar". If the store is one file, returns its path.
  std::string shard(std::uint64_t number) const;
  /// Returns the path that the file of shard `number` has until the store is finished.
  std::string partial(std::uint64_t number) const;
  /// Describes the files to delete if an unfinished store is given up.
  std::string unfinished_files() const;

  /// The numbers of the existing shards, in ascending order.
  struct Found {
    std::vector<std::uint64_t> finished, partial;
  };
  Found find(std::string_view source) const;

 private:
  // The name includes the extension, because a folder may have stores of the same path with different extensions.
  std::string name() const { return single_file_ ? path_ : path_ + extension_; }
  std::string path_, extension_;
  bool single_file_;
};

/// Returns "PATH" for a file "PATH-42.EXTENSION", with any number of digits. Returns none for other files.
std::optional<std::string> store_of_shard(std::string_view file, std::string_view extension);

/// @throws Error(invalid_argument) if one of `files` belongs to a store that is not finished.
void refuse_unfinished(const std::vector<std::string>& files, std::string_view extension, std::string_view source);

}  // namespace penstock::common
