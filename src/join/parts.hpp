// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/any_source.hpp>
#include <penstock/join.hpp>

#include "join/branches.hpp"
#include "join/forwarded_source.hpp"

namespace penstock::detail {

/// A record of one of several sources.
struct PartRecord {
  std::uint64_t part, index;
};

/// Several sources with the same fields, joined to one source that has all their records and blocks. Blocks are in the
/// order of the parts. A derived class decides which part each record comes from.
class Parts : public ForwardedRecords {
 public:
  /// `kind`: the stage's name. `joined`: how the parts' classes are matched.
  /// @throws Error(invalid_argument) if there are no parts, or if they have more than 2^62 records together.
  /// @throws Error(schema_mismatch) if the parts' fields or classes can't be joined.
  Parts(const std::string& kind, const std::vector<AnySource>& parts, ClassMatching joined);

  /// Returns where record `index` comes from. REQUIRES: `index` is below size().
  virtual PartRecord locate(std::uint64_t index) const = 0;
  /// Like `locate`, for any index. @throws Error(not_found) past the end.
  PartRecord find(std::uint64_t index) const;

  std::uint64_t size() const final { return size_; }
  Schema schema() const final { return schema_; }
  std::unique_ptr<ReaderModel> open_reader() const final { return open_branch(0); }
  std::unique_ptr<ReaderModel> open_branch(std::uint64_t branch) const final;
  std::string name() const final { return name_; }
  bool has_keys() const noexcept final { return has_keys_; }
  bool wants_advice() const noexcept final { return wants_advice_; }
  void will_need(std::span<const std::uint64_t> indices) const noexcept final;
  void describe(std::uint64_t index, Error& error) const final;
  void describe_field(std::uint64_t index, std::size_t slot, Error& error) const final;
  bool identified() const noexcept final;
  std::uint64_t revision() const final;
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const final;

  void for_each_part(const std::function<void(std::size_t, const SourceModel&)>& visit) const final;
  std::uint64_t branches() const noexcept final { return branches_.branches(); }
  bool draws() const final { return branches_.draws(); }
  bool blocks_vary() const noexcept final { return blocks_vary_; }
  std::vector<std::string> notes() const final;
  std::vector<FetchCounts> fetched() const final;

  const BlockModel* block_model() const noexcept final { return blocks() == 0 ? nullptr : this; }
  std::uint64_t blocks() const final { return block_ends_.back(); }
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const final;
  BlocksAhead blocks_ahead() const final { return blocks_ahead_; }
  MemoryAhead take_memory(std::size_t most) const final;

  const SourceModel& part(std::uint64_t i) const noexcept { return *parts_[i]; }
  std::uint64_t parts() const noexcept { return parts_.size(); }
  std::uint64_t part_size(std::uint64_t i) const noexcept { return sizes_[i]; }

 protected:
  std::uint64_t identity_of_parts() const;
  /// Returns the groups of each part. Returns an empty list if no part has groups of its own. If only some parts have
  /// them, makes the groups of each other part from its keys. @throws like `groups_of`.
  std::vector<std::vector<Group>> groups_of_parts(const std::string& stage) const;
  /// Returns which part a block comes from, and the block's number in that part.
  PartRecord locate_block(std::uint64_t block) const;

  RecordOrigin origin(std::uint64_t index) const final;
  BlockOrigin block_origin(std::uint64_t block) const final;

 private:
  template <class F>
  void describe_by(std::uint64_t index, Error& error, F part) const;

  void take_schema(const std::string& kind, const std::vector<AnySource>& parts, const std::vector<std::string>& names,
                   ClassMatching joined);

  std::vector<std::shared_ptr<const SourceModel>> parts_;
  // Each source once, even if it is several parts. Otherwise nested joins of the same source would ask it an
  // exponential number of times.
  std::vector<const SourceModel*> distinct_;
  std::vector<std::size_t> which_;  // for each part, its index in `distinct_`
  std::vector<std::uint64_t> sizes_, block_ends_;
  std::string name_;
  Schema schema_;
  std::uint64_t size_ = 0;
  BranchCount branches_;
  BlocksAhead blocks_ahead_;
  bool blocks_vary_ = false, has_keys_ = true, wants_advice_ = false;
};

/// Makes the error of a join's record from `inner`, the error of a part's record. Drops the index of the part's record,
/// and appends `which` to the cause.
Error of_record(const Error& inner, const std::string& which);

/// Checks an index. @throws Error(not_found) if it is past the end of the join.
void require_record(const SourceModel& join, std::uint64_t index);

/// Returns the name of a join, such as "concat(lmdb, lmdb)". Uses only the first few of `names`, and cuts long names.
std::string joined_name(std::string_view kind, const std::vector<std::string>& names);

}  // namespace penstock::detail
