// SPDX-License-Identifier: Apache-2.0
// Tar shards that are on this machine and on a server.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <penstock/penstock.hpp>
#include <penstock/sources/remote.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/write.hpp>

#include "sources/remote/server.hpp"

namespace penstock_test::on_server {

using namespace penstock;
using namespace std::chrono_literals;

inline constexpr std::uint64_t samples = 150;

// Bytes of 0 to 60,000 values, an array, and a number.
struct Records {
  std::uint64_t size() const { return samples; }
  Schema schema() const {
    return {{"image", DType::u8, {dynamic}}, {"box", DType::f32, {dynamic, 4}}, {"label", DType::i64, {}}};
  }
  std::string key(std::uint64_t i) const { return "k/" + std::to_string(1000 + i); }
  void read(std::uint64_t i, SampleBuilder& out) const {
    Rng rng(3, 3, {0, i});
    const auto image =
        out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(i % 7 == 3 ? 0 : rng.below(60'000))});
    for (std::uint8_t& byte : image) byte = static_cast<std::uint8_t>(rng.below(256));
    const auto box = out.emplace<float, 2>("box", {static_cast<std::int64_t>(i % 4), 4});
    for (float& value : box) value = static_cast<float>(rng.below(1000));
    out.scalar<std::int64_t>(2, static_cast<std::int64_t>(i));
  }
};

struct Shards {
  Shards() { write(from(Records{}), WebDatasetSink({.path = folder / "train", .max_samples = 60})); }
  WebDataset here() const { return {.path = folder / "train-{000000..000002}.tar"}; }
  WebDataset there(std::shared_ptr<const RemoteClient> client) const {
    WebDataset options{.path = server.url("train-{000000..000002}.tar")};
    options.client = std::move(client);
    return options;
  }
  TempFolder folder;
  Server server{folder};
};

inline std::shared_ptr<const RemoteClient> quick_client() {
  Remote remote;
  remote.range_bytes = 64 << 10;
  remote.cache_bytes = 0;
  remote.connections = 4;
  remote.retries = 60;
  remote.first_pause = 2ms;
  remote.longest_pause = 20ms;
  remote.stalled = 1s;
  return std::make_shared<const RemoteClient>(remote);
}

inline Pipeline batches(const Pipeline& p) { return p | ragged("bin") | ragged("box") | batch(16); }

// The bytes of all batches of an epoch, after `skip` of them.
inline std::string bytes_of(Loader& loader, std::size_t skip = 0) {
  std::string all;
  for (const Batch& b : loader.epoch()) {
    if (skip != 0) {
      --skip;
      continue;
    }
    for (const char* field : {"bin", "box"}) {
      const RaggedRows rows = b.ragged(field);
      for (std::uint64_t r = 0; r < b.size(); ++r)
        all.append(reinterpret_cast<const char*>(rows[r].data), rows[r].bytes());
    }
    const auto labels = b.view<const std::int64_t, 1>("label");
    for (std::uint64_t r = 0; r < b.size(); ++r) all += std::to_string(labels(static_cast<std::int64_t>(r))) + ",";
  }
  return all;
}

}  // namespace penstock_test::on_server
