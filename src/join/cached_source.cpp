// SPDX-License-Identifier: Apache-2.0
#include "join/cached_source.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <penstock/detail/source_model.hpp>

#include "join/forwarded_source.hpp"
#include "join/lent_blocks.hpp"

namespace penstock::detail {

namespace {

class CachedReader final : public ReaderModel {
 public:
  CachedReader(std::unique_ptr<ReaderModel> reader, std::shared_ptr<RecordCache> cache)
      : cache_(std::move(cache)), reader_(std::move(reader)), recalled_(cache_->open_reader()) {}

  void read(std::uint64_t index, SampleBuilder& out) override {
    // If the cache had the record when the engine asked `blocks_of`, the list of lent blocks is empty. It is not passed
    // on, so that `reader_` loads the record's blocks by itself.
    if (const auto lent = lent_.take(index); lent && (!lent->blocks.empty() || lent->failure != nullptr))
      reader_->lend(index, lent->blocks, lent->failure);
    reader_->read(index, out);
  }
  void expect(std::span<const std::uint64_t> indices) noexcept override {
    // A reader expects advice to list all records that it will be asked for. So advice is given only if the cache has
    // all of the records, or has none.
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
  // Only keeps the blocks. `read` lends them to `reader_` if the record must be made; a recalled record needs no
  // blocks.
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

class CachedSource final : public ForwardedSource {
 public:
  CachedSource(std::shared_ptr<const SourceModel> source, std::shared_ptr<const LazyCache> cache)
      : ForwardedSource(std::move(source)), cache_(std::move(cache)) {}

  std::unique_ptr<ReaderModel> open_branch(std::uint64_t branch) const override {
    return std::make_unique<CachedReader>(source().open_branch(branch), cache_->open());
  }
  std::vector<std::string> cache_notes() const override {
    if (const RecordCache* const cache = cache_->get()) return cache->notes();
    return {"the cache is opened when a loader begins"};
  }

  bool wants_advice() const noexcept override {
    const RecordCache* const cache = cache_->get();
    return source().wants_advice() || (cache != nullptr && cache->wants_advice());
  }
  void will_need(std::span<const std::uint64_t> indices) const noexcept override {
    try {
      std::vector<std::uint64_t> there, missing;
      for (const std::uint64_t index : indices) (has(index) ? there : missing).push_back(index);
      if (RecordCache* const cache = cache_->get(); !there.empty() && cache->wants_advice()) cache->will_need(there);
      if (!missing.empty() && source().wants_advice()) source().will_need(missing);
    } catch (...) {  // no memory for advice
    }
  }

  bool blocks_vary() const noexcept override { return true; }
  // Returns none, because some of a block's records may come from the cache.
  std::optional<BlockRows> rows_of(std::uint64_t) const override { return std::nullopt; }
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const override {
    if (!has(index)) ForwardedSource::blocks_of(index, ids);
  }

 private:
  bool has(std::uint64_t index) const noexcept {
    const RecordCache* const cache = cache_->get();
    return cache != nullptr && cache->has(index);
  }

  std::shared_ptr<const LazyCache> cache_;
};

}  // namespace

std::shared_ptr<const SourceModel> make_cached_source(std::shared_ptr<const SourceModel> source,
                                                      std::shared_ptr<const LazyCache> cache) {
  return std::make_shared<const CachedSource>(std::move(source), std::move(cache));
}

}  // namespace penstock::detail
