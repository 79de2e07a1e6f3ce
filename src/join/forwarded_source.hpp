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

namespace penstock::detail {

/// A source of another one's records, blocks and facts. What stands before a source derives from it and says what
/// differs.
class ForwardedSource : public SourceModel, public BlockModel {
 public:
  explicit ForwardedSource(std::shared_ptr<const SourceModel> source)
      : source_(std::move(source)), blocks_(source_->block_model()) {}

  std::uint64_t size() const override { return source_->size(); }
  Schema schema() const override { return source_->schema(); }
  std::unique_ptr<ReaderModel> open_reader() const override { return source_->open_reader(); }
  std::string name() const override { return source_->name(); }
  std::string file() const override { return source_->file(); }
  std::string file_of(std::uint64_t index) const override { return source_->file_of(index); }
  bool has_keys() const noexcept override { return source_->has_keys(); }
  std::string key(std::uint64_t index) const override { return source_->key(index); }
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
  std::uint64_t block_bytes(std::uint64_t block) const override { return blocks_->block_bytes(block); }
  std::optional<BlockRows> rows_of(std::uint64_t block) const override { return blocks_->rows_of(block); }
  bool can_do_without(std::uint64_t block) const override { return blocks_->can_do_without(block); }
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const override {
    blocks_->blocks_of(index, ids);
  }
  void load(std::uint64_t block, std::span<std::byte> bytes) const override { blocks_->load(block, bytes); }

 protected:
  const SourceModel& source() const noexcept { return *source_; }

 private:
  std::shared_ptr<const SourceModel> source_;
  const BlockModel* blocks_;
};

}  // namespace penstock::detail
