// SPDX-License-Identifier: Apache-2.0
#include <penstock/detail/source_model.hpp>

#include <algorithm>
#include <cstddef>
#include <list>
#include <optional>
#include <utility>

namespace penstock {

namespace detail::runtime {

namespace {

constexpr std::size_t max_kept_bytes = std::size_t{8} << 20;

class BlockReader final : public ReaderModel {
 public:
  explicit BlockReader(const BlockSourceModel& model) : model_(model) {}

  void lend(std::uint64_t index, BlockData blocks, const Error* failure) noexcept override {
    lent_index_ = index;
    lent_ = blocks;
    failure_ = failure;
  }

  void read(std::uint64_t index, SampleBuilder& out) override {
    if (const std::optional<std::uint64_t> lent = std::exchange(lent_index_, std::nullopt); lent == index) {
      if (failure_ != nullptr) throw Error(*failure_);
      return model_.read(index, lent_, out);
    }
    ids_.clear();
    model_.blocks_of(index, ids_);
    blocks_.clear();
    for (const std::uint64_t id : ids_)
      blocks_.push_back(model_.can_do_without(id) ? std::span<const std::byte>() : block(id));
    model_.read(index, blocks_, out);
  }

  void pause() noexcept override {
    kept_.clear();
    lent_index_.reset();
  }

 private:
  struct Kept {
    std::uint64_t id;
    std::vector<std::byte> bytes;
  };

  // Returns a block. Loads the block if it is not in `kept_`. Puts it at the front of `kept_`, so that the blocks there
  // are in the order of use, the latest first.
  std::span<const std::byte> block(std::uint64_t id) {
    const auto found = std::ranges::find(kept_, id, &Kept::id);
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return kept_.front().bytes;
    }
    forget_unneeded(static_cast<std::size_t>(model_.block_bytes(id)));
    std::list<Kept> loaded;
    loaded.push_back({id, std::vector<std::byte>(static_cast<std::size_t>(model_.block_bytes(id)))});
    model_.load(id, loaded.front().bytes);
    kept_.splice(kept_.begin(), loaded);
    return kept_.front().bytes;
  }
  void forget_unneeded(std::size_t more) {
    std::size_t bytes = more;
    for (const Kept& kept : kept_) bytes += kept.bytes.size();
    for (auto at = kept_.end(); at != kept_.begin() && bytes > max_kept_bytes;) {
      --at;
      if (std::ranges::find(ids_, at->id) != ids_.end()) continue;
      bytes -= at->bytes.size();
      at = kept_.erase(at);
    }
  }

  const BlockSourceModel& model_;
  std::optional<std::uint64_t> lent_index_;
  BlockData lent_;
  const Error* failure_ = nullptr;
  std::list<Kept> kept_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::span<const std::byte>> blocks_;
};

}  // namespace

}  // namespace detail::runtime

std::unique_ptr<detail::ReaderModel> detail::make_block_reader(const BlockSourceModel& model) {
  return std::make_unique<runtime::BlockReader>(model);
}

}  // namespace penstock
