// SPDX-License-Identifier: Apache-2.0
// Stores of one shard, which is in memory and read like one on a server.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>

#include "webdataset/block_access.hpp"
#include "webdataset/sample_giver.hpp"
#include "webdataset/store.hpp"

namespace penstock_test::in_memory {

using namespace penstock;

// A file in memory, which counts the bytes that are read. One thread.
class MemoryFile final : public ByteSource {
 public:
  MemoryFile(std::string name, std::string bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}
  std::string name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
      throw Error(Errc::invalid_argument, "past the end");
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    bytes_read += out.size();
  }
  std::size_t range_bytes() const override { return 4096; }
  std::vector<std::byte> kept(std::string_view name) const override {
    const auto found = memory.find(std::string(name));
    return found == memory.end() ? std::vector<std::byte>() : found->second;
  }
  void keep(std::string_view name, std::span<const std::byte> bytes) const noexcept override {
    memory[std::string(name)].assign(bytes.begin(), bytes.end());
  }
  std::uint64_t identity() const override { return bytes_.size(); }
  std::uint64_t revision() const override { return 1; }

  mutable std::uint64_t bytes_read = 0;
  mutable std::map<std::string, std::vector<std::byte>> memory;  // what was kept

 private:
  const std::string name_, bytes_;
};

using SharedFile = std::shared_ptr<const MemoryFile>;

// A store of one shard, and its index file if it has one.
class OneShard : public webdataset::Store {
 public:
  OneShard(WebDataset options, const SharedFile& shard, const SharedFile& index)
      : Store(std::move(options),
              std::make_unique<webdataset::ShardRanges>(
                  webdataset::ShardRanges::Files{shard},
                  index != nullptr ? webdataset::ShardRanges::Files{index} : webdataset::ShardRanges::Files{})) {}
  std::string key(std::uint64_t number) const { return std::string(indices[0].key(number)); }
};

inline std::string sample_text(const OneShard& shard, std::uint64_t number) {
  const webdataset::ShardRanges& shards = *shard.ranges;
  std::vector<std::uint64_t> ids;
  shards.blocks_of(0, shard.indices[0], number, ids);
  std::vector<std::vector<std::byte>> bytes;
  for (const std::uint64_t id : ids)
    shards.load(id, bytes.emplace_back(static_cast<std::size_t>(shards.block_bytes(id))));
  const std::vector<std::span<const std::byte>> blocks(bytes.begin(), bytes.end());
  webdataset::BlockAccess access(shards, ids, blocks);
  OwnedSample sample(shard.schema);
  SampleBuilder out = sample.builder();
  webdataset::SampleGiver<webdataset::BlockAccess>(shard, access).give(number, {0, number}, out);
  std::string text = shard.key(number) + ":";
  for (const Field& field : shard.schema) {
    const auto value = sample[field.name];
    text.append(reinterpret_cast<const char*>(value.data), value.bytes()) += ",";
  }
  return text;
}

inline const WebDataset two_fields{.path = "a.tar", .fields = {{"txt", "txt"}, {"cls", "cls"}}};

}  // namespace penstock_test::in_memory
