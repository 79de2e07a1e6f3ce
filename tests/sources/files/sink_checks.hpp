#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <penstock/sources/files_sink.hpp>

#include "sources/source_checks.hpp"

namespace penstock_test {

struct FileItem {
  std::string key, image;
  std::int64_t label = 0;
};

inline const penstock::Schema file_schema{{"image", penstock::DType::u8, {penstock::dynamic}},
                                          {"label", penstock::DType::i64, {}}};

// Some begin like images, some are empty. Several folders, and none.
inline std::vector<FileItem> file_items(std::size_t count, std::size_t max_bytes = 3000) {
  static const std::string begins[] = {"\xff\xd8\xff\xe0", "\x89PNG\r\n\x1a\n", "GIF89a", ""};
  std::vector<FileItem> items;
  for (std::size_t i = 0; i < count; ++i)
    items.push_back({(i % 5 == 0 ? "" : "class" + std::to_string(i % 3) + "/") + std::to_string(i * 7919 % 100'000),
                     begins[i % 4] + std::string(i * 977 % max_bytes, static_cast<char>('a' + i % 26)),
                     static_cast<std::int64_t>(i)});
  return items;
}

inline void put(penstock::FilesSink& sink, std::uint64_t position, const FileItem& item) {
  penstock::OwnedSample sample(file_schema);
  penstock::SampleBuilder out = sample.builder();
  const auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(item.image.size())});
  if (!item.image.empty()) std::memcpy(to.data(), item.image.data(), item.image.size());
  out.scalar<std::int64_t>("label", item.label);
  penstock::Sample view = sample.sample();
  sink.put({.position = position, .index = position, .key = item.key}, view);
}

// What `write` does with a sink, without threads; true when it reached the end.
inline bool run(penstock::FilesSink& sink, const std::vector<FileItem>& items, std::size_t stop_after = ~std::size_t{0},
                const penstock::Schema& schema = file_schema) {
  sink.open(schema, items.size());
  for (std::size_t position = 0; position < items.size(); ++position) {
    if (position == stop_after) {
      sink.commit();
      return false;
    }
    if (!sink.has({.position = position, .index = position, .key = items[position].key}))
      put(sink, position, items[position]);
    if (position % 7 == 6) sink.commit();
  }
  sink.commit();
  sink.finish();
  return true;
}

// Every file below a folder and its content, by path; folders end in '/'.
inline std::map<std::string, std::string> tree_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
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
