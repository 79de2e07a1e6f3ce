#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <penstock/sources/webdataset_sink.hpp>

#include "sources/files/folder_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/webdataset/tar_files.hpp"

namespace penstock_test {

struct ShardItem {
  std::string key, image;
  std::int64_t label = 0;
};

inline const penstock::Schema shard_schema{{"image", penstock::DType::u8, {penstock::dynamic}},
                                           {"label", penstock::DType::i64, {}}};

inline std::vector<ShardItem> shard_items(std::size_t count, std::size_t max_bytes = 3000) {
  std::vector<ShardItem> items;
  for (std::size_t i = 0; i < count; ++i)
    items.push_back({"class" + std::to_string(i % 3) + "/" + std::to_string(i * 7919 % 100'000),
                     std::string(i * 977 % max_bytes, static_cast<char>('a' + i % 26)), static_cast<std::int64_t>(i)});
  return items;
}

inline void put(penstock::WebDatasetSink& sink, std::uint64_t position, const ShardItem& item) {
  penstock::OwnedSample sample(shard_schema);
  penstock::SampleBuilder out = sample.builder();
  const auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(item.image.size())});
  if (!item.image.empty()) std::memcpy(to.data(), item.image.data(), item.image.size());
  out.scalar<std::int64_t>("label", item.label);
  penstock::Sample view = sample.sample();
  sink.put({.position = position, .index = position, .key = item.key}, view);
}

// What `write` does with a sink, without threads; true when it reached the end.
inline bool run(penstock::WebDatasetSink& sink, const std::vector<ShardItem>& items,
                std::size_t stop_after = ~std::size_t{0}, const penstock::Schema& schema = shard_schema) {
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

}  // namespace penstock_test
