// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>

/// The classes in this file pass calls on to the sources that a source wraps. To add an optional member to sources,
/// declare it in the list of `Source`, give it a default in `SourceModel`, and call it in `SourceMembers`. Then pass it
/// on here: in `ForwardedRecords` if it is about one record, in `ForwardedSource` if it is about all records. For a
/// member about a block, use `BlockSource`, `BlockModel`, `BlockSourceOf` and `ForwardedBlocks` instead. A join that
/// has a different answer overrides the member. Other code needs no change. For a member about all records, a join of
/// several sources returns the default unless it overrides the member. For a member about one record, zip() and pair()
/// return the default too, because their records come from several sources.
namespace penstock::detail {

/// The source and index that a record comes from.
struct RecordOrigin {
  const SourceModel& source;
  std::uint64_t index;
};
/// The source and number that a block comes from.
struct BlockOrigin {
  const BlockModel& blocks;
  std::uint64_t block;
};

/// Adds what a part fetched to what other parts did, unless the same counter is there already.
inline void add_fetched(std::vector<FetchCounts>& all, const SourceModel& part) {
  for (const FetchCounts& counts : part.fetched())
    if (counts.counter == nullptr || std::ranges::find(all, counts.counter, &FetchCounts::counter) == all.end())
      all.push_back(counts);
}

/// Offers `most` bytes to sources of blocks. Each source that looks ahead gets an equal part. A source that takes
/// nothing of its part gets an offer of all that is left: sources of a join often share a client. Pointers may be null,
/// and a source may be there several times.
inline MemoryAhead take_memory_of(const std::vector<const BlockModel*>& sources, std::size_t most) {
  // In the order of the parts, so that the same join takes the same memory in each process.
  std::vector<const BlockModel*> distinct;
  std::unordered_set<const BlockModel*> seen;
  for (const BlockModel* const source : sources)
    if (source != nullptr && source->blocks_ahead().blocks != 0 && seen.insert(source).second)
      distinct.push_back(source);
  MemoryAhead all;
  std::vector<std::shared_ptr<const void>> holders;
  const auto take = [&](const BlockModel& source, std::size_t offered) {
    MemoryAhead taken = source.take_memory(offered);
    all.bytes += std::min(taken.bytes, offered);
    holders.push_back(std::move(taken.holder));
    return taken.bytes != 0;
  };
  std::erase_if(distinct, [&, each = most / std::max<std::size_t>(distinct.size(), 1)](const BlockModel* source) {
    return take(*source, each);
  });
  for (const BlockModel* const source : distinct) take(*source, most - all.bytes);
  if (all.bytes != 0) all.holder = std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(holders));
  return all;
}

/// A model whose blocks are blocks of other sources. Passes each call about a block on to the block's source.
class ForwardedBlocks : public BlockModel {
 public:
  std::uint64_t block_bytes(std::uint64_t block) const override {
    const BlockOrigin own = block_origin(block);
    return own.blocks.block_bytes(own.block);
  }
  bool can_do_without(std::uint64_t block) const override {
    const BlockOrigin own = block_origin(block);
    return own.blocks.can_do_without(own.block);
  }
  void load(std::uint64_t block, std::span<std::byte> bytes) const override {
    const BlockOrigin own = block_origin(block);
    own.blocks.load(own.block, bytes);
  }
  std::shared_ptr<const std::byte> lend(std::uint64_t block) const override {
    const BlockOrigin own = block_origin(block);
    return own.blocks.lend(own.block);
  }
  void will_load(std::span<const std::uint64_t> blocks) const noexcept override {
    for_each_source(blocks, [](const BlockModel& model, std::span<const std::uint64_t> own) { model.will_load(own); });
  }
  void will_not_load(std::span<const std::uint64_t> blocks) const noexcept override {
    for_each_source(blocks,
                    [](const BlockModel& model, std::span<const std::uint64_t> own) { model.will_not_load(own); });
  }

 protected:
  /// Returns what suits all of these sources.
  static BlocksAhead most_ahead(BlocksAhead a, BlocksAhead b) noexcept {
    return {std::max(a.blocks, b.blocks), std::max(a.bytes, b.bytes)};
  }
  /// Returns where a block comes from. REQUIRES: `block` is below `blocks()`.
  virtual BlockOrigin block_origin(std::uint64_t block) const = 0;

 private:
  // Calls f with the source's own numbers of the blocks, one by one, so that no memory is needed.
  template <class F>
  void for_each_source(std::span<const std::uint64_t> blocks, F f) const noexcept {
    for (const std::uint64_t block : blocks) {
      const BlockOrigin own = block_origin(block);
      if (own.blocks.blocks_ahead().blocks != 0) f(own.blocks, std::span(&own.block, 1));
    }
  }
};

/// A source whose records are records of other sources, or begin with a record of another source. Passes each call
/// about a record on to the record's source.
class ForwardedRecords : public SourceModel, public ForwardedBlocks {
 public:
  std::string file_of(std::uint64_t index) const override {
    const RecordOrigin own = origin(index);
    return own.source.file_of(own.index);
  }
  std::string key(std::uint64_t index) const override {
    const RecordOrigin own = origin(index);
    return own.source.key(own.index);
  }

 protected:
  /// Returns where a record comes from. If the index is past the end, either this function throws, or the call that is
  /// passed on to the returned source does.
  virtual RecordOrigin origin(std::uint64_t index) const = 0;
};

/// A source with the records, blocks and facts of one other source. A class that wraps one source derives from this
/// class, and overrides what differs. If the derived class numbers the records differently, it also overrides `origin`
/// and all members that use record numbers, like `labels`.
class ForwardedSource : public ForwardedRecords {
 public:
  explicit ForwardedSource(std::shared_ptr<const SourceModel> source)
      : source_(std::move(source)), blocks_(source_->block_model()) {}

  std::uint64_t size() const override { return source_->size(); }
  Schema schema() const override { return source_->schema(); }
  std::unique_ptr<ReaderModel> open_reader() const final { return open_branch(0); }
  std::unique_ptr<ReaderModel> open_branch(std::uint64_t branch) const override { return source_->open_branch(branch); }
  std::string name() const override { return source_->name(); }
  std::string file() const override { return source_->file(); }
  bool has_keys() const noexcept override { return source_->has_keys(); }
  std::uint64_t identity() const override { return source_->identity(); }
  bool identified() const noexcept override { return source_->identified(); }
  std::uint64_t revision() const override { return source_->revision(); }
  bool wants_advice() const noexcept override { return source_->wants_advice(); }
  void will_need(std::span<const std::uint64_t> indices) const noexcept override { source_->will_need(indices); }
  std::vector<std::uint64_t> block_ends() const override { return source_->block_ends(); }
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const override {
    return source_->labels(field);
  }
  std::vector<Group> groups() const override { return source_->groups(); }
  std::vector<std::string> notes() const override { return source_->notes(); }
  std::vector<FetchCounts> fetched() const override { return source_->fetched(); }
  std::vector<std::string> cache_notes() const override { return source_->cache_notes(); }
  std::shared_ptr<const PipelineData> pipeline() const override { return source_->pipeline(); }
  void for_each_part(const std::function<void(std::size_t, const SourceModel&)>& visit) const override {
    source_->for_each_part(visit);
  }
  std::uint64_t branches() const noexcept override { return source_->branches(); }
  bool draws() const override { return source_->draws(); }
  bool blocks_vary() const noexcept override { return source_->blocks_vary(); }
  void describe(std::uint64_t index, Error& error) const override { source_->describe(index, error); }
  void describe_field(std::uint64_t index, std::size_t slot, Error& error) const override {
    source_->describe_field(index, slot, error);
  }

  const BlockModel* block_model() const noexcept override { return blocks_ != nullptr ? this : nullptr; }
  std::uint64_t blocks() const override { return blocks_->blocks(); }
  std::optional<BlockRows> rows_of(std::uint64_t block) const override { return blocks_->rows_of(block); }
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const override {
    blocks_->blocks_of(index, ids);
  }
  BlocksAhead blocks_ahead() const override { return blocks_->blocks_ahead(); }
  MemoryAhead take_memory(std::size_t most) const override { return blocks_->take_memory(most); }

 protected:
  const SourceModel& source() const noexcept { return *source_; }
  RecordOrigin origin(std::uint64_t index) const override { return {*source_, index}; }
  BlockOrigin block_origin(std::uint64_t block) const override { return {*blocks_, block}; }

 private:
  std::shared_ptr<const SourceModel> source_;
  const BlockModel* blocks_;
};

}  // namespace penstock::detail
