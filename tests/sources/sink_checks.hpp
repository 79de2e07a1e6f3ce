// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <penstock/sources/lmdb_sink.hpp>

#include "source_checks.hpp"
#include "sources/lmdb/raw_lmdb.hpp"

namespace penstock_test {

inline const penstock::Schema bytes_schema{{"image", penstock::DType::u8, {penstock::dynamic}}};

inline penstock::OwnedSample sample_of(const std::string& text) {
  penstock::OwnedSample sample(bytes_schema);
  penstock::SampleBuilder out = sample.builder();
  const auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(text.size())});
  if (!text.empty()) std::memcpy(to.data(), text.data(), text.size());
  return sample;
}

inline void put(penstock::LmdbSink& sink, std::uint64_t position, const std::string& key, const std::string& text) {
  penstock::OwnedSample sample = sample_of(text);
  penstock::Sample view = sample.sample();
  sink.put({.position = position, .index = position, .key = key}, view);
}

// What `write` does with a sink, without threads; true when it reached the end.
inline bool run(penstock::LmdbSink& sink, const std::vector<std::pair<std::string, std::string>>& items,
                std::size_t stop_after = ~std::size_t{0}, const penstock::Schema& schema = bytes_schema) {
  sink.open({schema, items.size()});
  std::uint64_t position = 0;
  for (const auto& [key, text] : items) {
    if (position == stop_after) {
      sink.commit();
      return false;
    }
    if (!sink.has({.position = position, .index = position, .key = key})) put(sink, position, key, text);
    if (++position % 7 == 0) sink.commit();
  }
  sink.commit();
  sink.finish();
  return true;
}

using Items = std::vector<std::pair<std::string, std::string>>;

inline Items sorted_items(std::size_t count) {
  Items items;
  for (std::size_t i = 0; i < count; ++i)
    items.emplace_back("class/" + decimal_key(i), std::string(i * 31 % 6000, static_cast<char>('a' + i % 26)));
  return items;
}

inline Items shuffled_items(std::size_t count) {
  Items items;
  for (std::size_t i = 0; i < count; ++i) items.emplace_back("k" + std::to_string(i * 7919 % count), std::to_string(i));
  return items;
}

}  // namespace penstock_test
