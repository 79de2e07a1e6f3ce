// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <penstock/sources/webdataset.hpp>

#include "field_plan.hpp"
#include "index_file.hpp"
#include "member_source.hpp"
#include "sample_index.hpp"
#include "shard_ranges.hpp"

namespace penstock::webdataset {

/// Finds the members of shards on servers: in their index files, in what was kept of an earlier time, or else by
/// reading their headers while the shards stream through memory. Each shard streams at most once.
class MemberFinder {
 public:
  /// `shards` must outlive the object. Announces the index files.
  explicit MemberFinder(const ShardRanges& shards);
  ~MemberFinder();
  MemberFinder(const MemberFinder&) = delete;
  MemberFinder& operator=(const MemberFinder&) = delete;

  /// Returns the fields of a shard. One thread. @throws what `infer_fields` throws.
  std::vector<WebDatasetField> infer(std::size_t shard);
  /// Returns the index of all shards. Call this once. @throws what `index_members` throws.
  std::vector<ShardIndex> index(const std::vector<PlannedField>& fields, unsigned threads);
  /// Returns what is worth a line in `plan()`, after `index`.
  std::vector<std::string> notes() const;

 private:
  ShardIndex index_one(std::size_t shard, const std::vector<PlannedField>& fields);
  std::unique_ptr<MemberSource> open_listed(std::size_t shard);
  std::unique_ptr<MemberSource> open_unlisted(std::size_t shard) const;
  std::unique_ptr<MemberSource> open(std::size_t shard);
  void note_unused(std::size_t shard, const IndexDoubt& doubt);

  const ShardRanges& shards_;
  std::vector<std::unique_ptr<MemberSource>> found_;  // of shards whose fields were inferred
  std::vector<char> announced_;                       // index files that were not read
  mutable std::mutex mutex_;
  std::size_t unused_ = 0, first_unused_ = 0;  // index files that are not used
  std::string why_unused_;                     // of the first shard of them
};

}  // namespace penstock::webdataset
