#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>

/// What stands before other sources passes on here what it doesn't answer itself. An optional member of a source is
/// declared in the list of `Source`, has its default in `SourceModel`, is called by `SourceMembers`, and is passed on
/// by one function here: of `ForwardedRecords` where it is asked of one record, of `ForwardedSource` where it is asked
/// of all of them. One of a block: `BlockSource`, `BlockModel`, `BlockSourceOf`, `ForwardedBlocks`. Nothing else has to
/// know it, but for a join whose answer is another one: it overrides it. Where a member is asked of all records, joins
/// of several sources give the default until they say what they make of their parts' answers; so do zip() and pair()
/// where it is asked of one, as theirs is of several sources.
namespace penstock::detail {

/// Which record of another source a record is.
struct RecordOrigin {
  const SourceModel& source;
  std::uint64_t index;
};
/// Which block of another source a block is.
struct BlockOrigin {
  const BlockModel& blocks;
  std::uint64_t block;
};

/// Blocks that are each one of another source's, which answers what is asked of it.
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

 protected:
  /// Whose a block is that is below `blocks()`.
  virtual BlockOrigin block_origin(std::uint64_t block) const = 0;
};

/// Records that are each one of another source's, or begin with it; that source answers what is asked of it.
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
  /// Whose a record is, whatever its index: this, or the source, refuses one past the end.
  virtual RecordOrigin origin(std::uint64_t index) const = 0;
};

/// A source of another one's records, blocks and facts. What stands before one source derives from it and says what
/// differs: where records are others, also `origin` and whatever speaks of them by their numbers, like `labels`.
class ForwardedSource : public ForwardedRecords {
 public:
  explicit ForwardedSource(std::shared_ptr<const SourceModel> source)
      : source_(std::move(source)), blocks_(source_->block_model()) {}

  std::uint64_t size() const override { return source_->size(); }
  Schema schema() const override { return source_->schema(); }
  std::unique_ptr<ReaderModel> open_reader() const override { return source_->open_reader(); }
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
  std::vector<std::string> cache_notes() const override { return source_->cache_notes(); }
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

 protected:
  const SourceModel& source() const noexcept { return *source_; }
  RecordOrigin origin(std::uint64_t index) const override { return {*source_, index}; }
  BlockOrigin block_origin(std::uint64_t block) const override { return {*blocks_, block}; }

 private:
  std::shared_ptr<const SourceModel> source_;
  const BlockModel* blocks_;
};

}  // namespace penstock::detail
