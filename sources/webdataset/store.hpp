// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/sources/webdataset.hpp>

#include "common/page_advice.hpp"
#include "field_plan.hpp"
#include "manifest.hpp"
#include "sample_index.hpp"
#include "shard_map.hpp"
#include "shard_ranges.hpp"
#include "shard_urls.hpp"

namespace penstock::webdataset {

/// Opened shards: what a source and its readers share. Immutable, except for the advice's counters.
class Store {
 public:
  explicit Store(WebDataset its_options);
  /// Opens these shards, whatever `its_options.path` is.
  Store(WebDataset its_options, std::unique_ptr<ShardRanges> its_shards);

  /// Where a sample is.
  struct Location {
    std::size_t shard = 0;
    std::uint64_t sample = 0;  ///< number of the sample in its shard
  };
  std::uint64_t size() const noexcept { return first.back(); }
  Location location_of(std::uint64_t index) const noexcept;  ///< `index` must be below `size()`
  Entry entry(Location location, std::size_t slot) const noexcept {
    return indices[location.shard].entries.at(location.sample, slot);
  }
  /// Returns the entries of the sample's existing members.
  std::span<const Entry> entries_of(Location location) const noexcept {
    return indices[location.shard].entries.of(location.sample);
  }
  std::span<const std::byte> mapped(std::size_t shard, Entry entry) const noexcept {
    return maps[shard].bytes(entry.offset, entry.size);
  }
  void will_need(std::span<const std::uint64_t> samples) const noexcept;

  WebDataset options;
  std::vector<PlannedField> fields;
  std::vector<WebDatasetField> named;  ///< the fields from the options, or the inferred fields in the same form
  Schema schema;
  std::vector<std::string> shards;  ///< paths, or URLs without secrets
  /// The other files and folders in the shards' folder, as a text. Empty if the source passes over nothing.
  std::string passed_over;
  std::vector<std::string> opening_notes;  ///< what is worth a line about the cache and index files
  std::vector<ShardIndex> indices;
  std::vector<ShardMap> maps;           ///< of shards on this machine that are not read in ranges
  std::unique_ptr<ShardRanges> ranges;  ///< of shards that are read in ranges; otherwise null
  bool on_servers = false;              ///< then there are ranges
  /// Index of each shard's first sample; the last entry is the number of all samples.
  std::vector<std::uint64_t> first{0};
  std::uint64_t identity = 0;
  std::uint64_t revision = 0;
  mutable common::PageAdvice advice;

 private:
  void open_remote(const std::optional<Manifest>& manifest);
  void open_local(const std::optional<Manifest>& manifest);
  void open_in_ranges();
  void index_remote();
  void plan(const std::function<std::vector<WebDatasetField>(std::size_t shard)>& infer);
  void add_up();
  void take_schema();
  ClassNames classes_of(const Field& field) const;
  Field array_field(std::size_t slot) const;
  std::unique_ptr<const ShardBytes> open_shard(std::size_t shard) const;

  std::vector<std::string> urls_;  // of shards on servers, with their secrets
};

}  // namespace penstock::webdataset

namespace penstock {

class WebDatasetSource::Impl final : public webdataset::Store {
 public:
  using Store::Store;
};

}  // namespace penstock
