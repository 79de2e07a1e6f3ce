#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::common {

/// The names of the files of a store that is written as shards "PATH-000000.EXTENSION", or as one file.
class ShardNames {
 public:
  /// `extension` with its dot.
  ShardNames(std::string path, std::string_view extension, bool single_file = false)
      : path_(std::move(path)), extension_(extension), single_file_(single_file) {}

  /// The file that marks the store as unfinished: "PATH.EXTENSION-unfinished.json".
  std::string mark() const { return beside("json"); }
  /// Another file of an unfinished store: "PATH.EXTENSION-unfinished.ENDING".
  std::string beside(std::string_view ending) const { return name() + "-unfinished." + std::string(ending); }
  /// The file that says what made a finished store: "PATH.EXTENSION-made-by.json".
  std::string made_by() const { return name() + "-made-by.json"; }
  /// "PATH-000042.tar", or the path of a single file.
  std::string shard(std::uint64_t number) const;
  /// The name of a shard while it is not finished.
  std::string partial(std::uint64_t number) const;
  /// What to delete of a store that is given up, in words.
  std::string unfinished_files() const;

  /// Numbers of the shards that are there, in order. @throws Error(io).
  struct Found {
    std::vector<std::uint64_t> finished, partial;
  };
  Found find(std::string_view source) const;

 private:
  // With its kind: shards of two kinds may stand in one folder.
  std::string name() const { return single_file_ ? path_ : path_ + extension_; }
  std::string path_, extension_;
  bool single_file_;
};

/// "PATH" of a file "PATH-42.EXTENSION", with any number of digits; nothing for others.
std::optional<std::string> store_of_shard(std::string_view file, std::string_view extension);

/// @throws Error(invalid_argument) where one of these files belongs to a store that is not finished.
void refuse_unfinished(const std::vector<std::string>& files, std::string_view extension, std::string_view source);

}  // namespace penstock::common
