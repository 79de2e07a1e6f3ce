// SPDX-License-Identifier: Apache-2.0
// Encoded images, each with a label and a key, and what writes them into a sink.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <penstock/extend/sample.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/schema.hpp>

namespace penstock_test {

struct LabelledItem {
  std::string key, image;
  std::int64_t label = 0;
};

inline const penstock::Schema labelled_schema{{"image", penstock::DType::u8, {penstock::dynamic}},
                                              {"label", penstock::DType::i64, {}}};

inline penstock::SinkItem sink_item(const std::vector<LabelledItem>& items, std::size_t position) {
  return {.position = position, .index = position, .key = items[position].key};
}

template <class Sink>
void put(Sink& sink, std::uint64_t position, const LabelledItem& item) {
  penstock::OwnedSample sample(labelled_schema);
  penstock::SampleBuilder out = sample.builder();
  const auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(item.image.size())});
  if (!item.image.empty()) std::memcpy(to.data(), item.image.data(), item.image.size());
  out.scalar<std::int64_t>("label", item.label);
  penstock::Sample view = sample.sample();
  sink.put({.position = position, .index = position, .key = item.key}, view);
}

// What `write` does with a sink, without threads; true when it reached the end.
template <class Sink>
bool run(Sink& sink, const std::vector<LabelledItem>& items, std::size_t stop_after = ~std::size_t{0},
         const penstock::Schema& schema = labelled_schema) {
  sink.open({schema, items.size()});
  for (std::size_t position = 0; position < items.size(); ++position) {
    if (position == stop_after) {
      sink.commit();
      return false;
    }
    if (!sink.has(sink_item(items, position))) put(sink, position, items[position]);
    if (position % 7 == 6) sink.commit();
  }
  sink.commit();
  sink.finish();
  return true;
}

// How many of the items, from the first one on, an opened sink has from earlier runs.
template <class Sink>
std::size_t had_by(Sink& sink, const std::vector<LabelledItem>& items) {
  std::size_t has = 0;
  while (has < items.size() && sink.has(sink_item(items, has))) ++has;
  return has;
}

}  // namespace penstock_test
