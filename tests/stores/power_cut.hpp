// SPDX-License-Identifier: Apache-2.0
// What a power cut may leave of a folder, rebuilt from the calls that wrote it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recorded_calls.hpp"

namespace penstock_test {

// Which part of what was not synced is there afterwards. What was synced always is.
struct Left {
  enum class Data { none, zeros, every_other_write, all };
  const char* words;
  bool names;  // all of them, else those of synced folders alone
  Data data;
};
inline constexpr std::array<Left, 5> all_left{{{"what was synced", false, Left::Data::none},
                                               {"names without data", true, Left::Data::none},
                                               {"names with zeros for data", true, Left::Data::zeros},
                                               {"data without names", false, Left::Data::all},
                                               {"names, and every other write", true, Left::Data::every_other_write}}};

// A disk that is written to, call by call. Each folder and file below the first one is in it.
class RecordedDisk {
 public:
  // `data`: the bytes of all writes, one after the other.
  RecordedDisk(std::string folder, std::string data) : folder_(std::move(folder)), data_(std::move(data)) {}

  // False where the call changes nothing that a power cut could show.
  bool take(const RecordedCall& call);
  // Path → content; nothing for a folder.
  using Tree = std::map<std::string, std::optional<std::string>>;
  Tree after_power_cut(const Left& left) const;
  // Makes the folder hold that and nothing else.
  void put_back(const Tree& tree) const;

 private:
  static constexpr std::size_t a_folder = ~std::size_t{0};
  struct Write {
    std::uint64_t offset = 0;
    std::string bytes = {};
    std::optional<std::uint64_t> cut_to = {};
    bool synced = false;
  };
  // A name that was given, or, without an inode, taken away.
  struct Name {
    std::string path;
    std::optional<std::size_t> inode;
    bool synced = false;
  };
  using Names = std::map<std::string, std::size_t>;

  void name(const std::string& path, std::optional<std::size_t> inode);
  std::size_t inode_of(const std::string& path);
  void sync_names_in(const std::string& folder);
  static std::string content(const std::vector<Write>& writes, Left::Data left);
  static bool is_there(const Names& names, const std::string& folder, std::string path);

  const std::string folder_, data_;
  std::size_t data_read_ = 0;
  std::vector<std::vector<Write>> inodes_;
  std::vector<Name> changes_;
  Names now_;
};

}  // namespace penstock_test
