// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <penstock/sources/files_sink.hpp>

#include "sources/labelled_items.hpp"
#include "sources/source_checks.hpp"

namespace penstock_test {

// Some begin like images, some are empty. Several folders, and none.
inline std::vector<LabelledItem> file_items(std::size_t count, std::size_t max_bytes = 3000) {
  static const std::string begins[] = {"\xff\xd8\xff\xe0", "\x89PNG\r\n\x1a\n", "GIF89a", ""};
  std::vector<LabelledItem> items;
  for (std::size_t i = 0; i < count; ++i)
    items.push_back({(i % 5 == 0 ? "" : "class" + std::to_string(i % 3) + "/") + std::to_string(i * 7919 % 100'000),
                     begins[i % 4] + std::string(i * 977 % max_bytes, static_cast<char>('a' + i % 26)),
                     static_cast<std::int64_t>(i)});
  return items;
}

// Every file below a folder and its content, by path, but for the one that says what made it; folders end in '/'.
inline std::map<std::string, std::string> tree_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    if (name.ends_with("-made-by.json")) continue;
    if (entry.is_directory()) {
      tree[name + "/"] = "";
      continue;
    }
    std::ifstream in(entry.path(), std::ios::binary);
    tree[name] = std::string(std::istreambuf_iterator<char>(in), {});
  }
  return tree;
}

}  // namespace penstock_test
