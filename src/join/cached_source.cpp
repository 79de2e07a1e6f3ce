#include "join/cached_source.hpp"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/detail/source_model.hpp>

#include "join/lent_blocks.hpp"

namespace penstock::detail {

namespace {

class CachedReader final : public ReaderModel {
 public:
  CachedReader(std::unique_ptr<ReaderModel> reader, std::shared_ptr<RecordCache> cache)
      : cache_(std::move(cache)), reader_(std::move(reader)), recalled_(cache_->open_reader()) {}

  void read(std::uint64_t index, SampleBuilder& out) override {
    // A record that the plan left out, as the cache had it, has no blocks; if it must be made after all, its reader is
    // to find them.
    if (const auto lent = lent_.take(index); lent && (!lent->blocks.empty() || lent->failure != nullptr))
      reader_->lend(index, lent->blocks, lent->failure);
    reader_->read(index, out);
  }
  void expect(std::span<const std::uint64_t> indices) noexcept override {
    // Advice on some of each would be taken for the whole of what comes.
    bool all = true, none = true;
    for (const std::uint64_t index : indices) (cache_->has(index) ? none : all) = false;
    if (all) recalled_->expect(indices);
    if (none) reader_->expect(indices);
  }
  void pause() noexcept override {
    lent_.forget();
    reader_->pause();
    recalled_->pause();
  }
  // They are there until this sample is made: one that is recalled never looks at them.
  void lend(std::uint64_t index, BlockData blocks, const Error* failure) noexcept override {
    lent_.set(index, blocks, failure);
  }
  bool holds(std::uint64_t index) override { return recalled_->has(index); }
  bool recall(std::uint64_t index, SampleBuilder& out) override {
    if (!recalled_->read(index, out)) return false;
    lent_.forget();
    return true;
  }
  void offer(std::uint64_t index, Sample& sample) noexcept override { cache_->offer(index, sample); }

 private:
  std::shared_ptr<RecordCache> cache_;
  std::unique_ptr<ReaderModel> reader_;
  std::unique_ptr<CacheReader> recalled_;
  LentBlocks lent_;
};

class CachedSource final : public SourceModel, public BlockModel {
 public:
  CachedSource(std::shared_ptr<const SourceModel> source, std::shared_ptr<const OpenedCache> cache)
      : source_(std::move(source)), cache_(std::move(cache)), blocks_(source_->block_model()) {}

  std::uint64_t size() const override { return source_->size(); }
  Schema schema() const override { return source_->schema(); }
  std::unique_ptr<ReaderModel> open_reader() const override {
    return std::make_unique<CachedReader>(source_->open_reader(), cache_->open());
  }
  std::string name() const override { return source_->name(); }
  std::string file() const override { return source_->file(); }
  std::string file_of(std::uint64_t index) const override { return source_->file_of(index); }
  bool has_keys() const noexcept override { return source_->has_keys(); }
  std::string key(std::uint64_t index) const override { return source_->key(index); }
  std::uint64_t identity() const override { return source_->identity(); }
  bool identified() const noexcept override { return source_->identified(); }
  std::uint64_t revision() const override { return source_->revision(); }
  std::vector<std::uint64_t> block_ends() const override { return source_->block_ends(); }
  std::vector<Group> groups() const override { return source_->groups(); }
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const override {
    return source_->labels(field);
  }
  std::vector<std::string> notes() const override { return source_->notes(); }
  std::vector<std::string> cache_notes() const override {
    if (const RecordCache* const cache = cache_->get()) return cache->notes();
    return {"the cache is opened when a loader begins"};
  }
  void describe(std::uint64_t index, Error& error) const override { source_->describe(index, error); }

  bool wants_advice() const noexcept override {
    const RecordCache* const cache = cache_->get();
    return source_->wants_advice() || (cache != nullptr && cache->wants_advice());
  }
  void will_need(std::span<const std::uint64_t> indices) const noexcept override {
    try {
      std::vector<std::uint64_t> there, missing;
      for (const std::uint64_t index : indices) (has(index) ? there : missing).push_back(index);
      if (RecordCache* const cache = cache_->get(); !there.empty() && cache->wants_advice()) cache->will_need(there);
      if (!missing.empty() && source_->wants_advice()) source_->will_need(missing);
    } catch (...) {  // advice only
    }
  }

  const BlockModel* block_model() const noexcept override { return blocks_ != nullptr ? this : nullptr; }
  std::uint64_t blocks() const override { return blocks_->blocks(); }
  std::uint64_t block_bytes(std::uint64_t block) const override { return blocks_->block_bytes(block); }
  bool can_do_without(std::uint64_t block) const override { return blocks_->can_do_without(block); }
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const override {
    if (!has(index)) blocks_->blocks_of(index, ids);
  }
  void load(std::uint64_t block, std::span<std::byte> bytes) const override { blocks_->load(block, bytes); }

 private:
  bool has(std::uint64_t index) const noexcept {
    const RecordCache* const cache = cache_->get();
    return cache != nullptr && cache->has(index);
  }

  std::shared_ptr<const SourceModel> source_;
  std::shared_ptr<const OpenedCache> cache_;
  const BlockModel* blocks_;
};

}  // namespace

std::shared_ptr<const SourceModel> make_cached_source(std::shared_ptr<const SourceModel> source,
                                                      std::shared_ptr<const OpenedCache> cache) {
  return std::make_shared<const CachedSource>(std::move(source), std::move(cache));
}

}  // namespace penstock::detail
