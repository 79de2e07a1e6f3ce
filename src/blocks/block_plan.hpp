// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <penstock/detail/source_model.hpp>

#include "blocks/blocks_by_next_use.hpp"
#include "blocks/known_blocks.hpp"
#include "blocks/upcoming_samples.hpp"

namespace penstock::detail::runtime {

/// Decides which blocks are in memory when a sample is made, and which are evicted.
///
/// The plan depends only on the order of the samples, so the number of decodes does not depend on threads or time. It
/// is made sample by sample. If a sample's blocks are not in memory, they are loaded by these rules:
///
/// - If memory is full, the block whose next use is farthest is evicted. The next `lookahead` samples show the next
///   uses. Blocks without a known next use are evicted first, in the order of their last uses.
/// - Instead of evicting blocks, the plan may have a block decoded straight into the batch and then forgotten. The
///   block's rows must be side by side in the batch, in their order. If a later use of the block is known,
///   loading it into memory must also evict a block that is needed no later than that use.
/// - A block that the record can do without is loaded if there is room. If at least two later uses of this block are
///   known, it is also loaded in place of blocks whose next uses come after its own. If the block is not loaded, the
///   record itself decodes the part that it needs.
///
/// The plan also notes which blocks would be in memory if there were twice as much. An evicted block moves to a second
/// set with the same limit. When this set is full, it drops the block with the farthest next use. If all blocks have
/// one size, both sets together are what twice the memory would hold.
///
/// One thread at a time may use it. It keeps only the numbers of blocks, not their data.
class BlockPlan {
 public:
  using Feed = UpcomingSamples::Feed;

  /// The plan looks up to `lookahead` samples ahead. It stops earlier when the samples in sight use 16,384 blocks, but
  /// not before `at_least` samples are in sight. `destination_bytes`: for each field of the source, the bytes of a row
  /// in the batch if blocks may be decoded into the batch; otherwise 0.
  BlockPlan(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead,
            std::vector<std::size_t> destination_bytes, std::uint64_t at_least = ~std::uint64_t{0});

  /// Starts again, with the samples of `feed`. Of the blocks in memory, keeps those for which `keeps` returns true.
  void reset(Feed feed, const std::function<bool(std::uint64_t block)>& keeps);
  /// Raises the memory limit. REQUIRES: `bytes` is not below the present limit, and no other thread uses the plan. The
  /// constructor's limit still decides whether a record is too large, so that the result does not depend on when memory
  /// is added.
  void raise_limit(std::size_t bytes) noexcept { limit_ = bytes; }
  /// Returns whether a block is in memory after the last planned sample.
  bool has(std::uint64_t block) const {
    const KnownBlock* const known = known_.find(block);
    return known != nullptr && known->stays;
  }
  /// Returns about how many of the planned loads would not have been needed with twice the memory.
  std::uint64_t saved_by_double() const noexcept { return saved_; }
  /// Prepares for the next `count` calls of `next`: fetches samples from the feed, and asks the source which blocks
  /// they need. Also fetches samples after these, to look ahead.
  void prepare(std::uint64_t count) noexcept { upcoming_.prepare(count); }

  /// Number of samples that `next` has taken.
  std::uint64_t taken() const noexcept { return upcoming_.next(); }

  struct Need {
    std::uint64_t block;
    std::size_t bytes;
    bool loads;              ///< the block is not in memory and is loaded for this sample
    bool announced = false;  ///< for the user of the plan: the load ends an announcement
  };
  /// The plan for one sample.
  struct SamplePlan {
    bool known = false;                 ///< for the user of the plan: what `next` returned
    std::uint64_t index = 0;            ///< source index of the sample's record
    std::vector<std::uint64_t> blocks;  ///< blocks that the record needs, in the record's order
    /// The blocks that the sample gets, sorted by number, each once. Blocks that the record does without are not
    /// listed.
    std::vector<Need> needs;
    std::vector<std::uint64_t> evicted;  ///< blocks to evict before the sample's blocks are loaded
    /// 0 if the blocks that the record can't do without are within the constructor's limit. Otherwise the bytes of
    /// these blocks; `needs`, `evicted` and `in_batch` are empty then.
    std::size_t too_large = 0;
    std::optional<std::size_t> in_batch;  ///< slot of the field, if the sample's only block is decoded into the batch
  };
  /// Plans the next sample of the feed. `left`: number of samples of the sample's batch that are not planned yet,
  /// including this sample. Returns false if no sample is left, or if the source can't specify the sample's needs.
  /// @throws std::bad_alloc. After an exception, call `reset` before any other function.
  bool next(std::uint64_t left, SamplePlan& out);

 private:
  struct Room {
    std::size_t missing;  // bytes that must be loaded for the sample
    std::size_t own;      // bytes of all the sample's blocks that are or will be in memory
  };
  void look_ahead();
  void note_use(std::uint64_t sample, const UpcomingBlock& needed);
  void plan(const UpcomingSample& now, std::uint64_t use, std::uint64_t left, SamplePlan& out);
  bool plan_in_batch(const UpcomingSample& now, std::uint64_t use, std::uint64_t left, SamplePlan& out);
  bool can_go_into_batch(const UpcomingSample& now, const KnownBlock& block, std::uint64_t left) const;
  void list_needs(const UpcomingSample& now, Room& room, std::vector<Need>& needs);
  void leave_spare_blocks(const UpcomingSample& now, Room& room, std::vector<Need>& needs);
  void add_spare_blocks(const UpcomingSample& now, Room& room, SamplePlan& out);
  void note_needs(const UpcomingSample& now, std::uint64_t use, const std::vector<Need>& needs);
  bool has_room_before(std::size_t bytes, std::uint64_t key) const;
  void make_room(std::size_t bytes, std::vector<std::uint64_t>& evicted);
  void remember(std::uint64_t number, KnownBlock& block);
  void take_gone(const UpcomingSample& now);
  void note_gone(const UpcomingSample& now, std::uint64_t use, const SamplePlan& out);

  const std::size_t record_limit_;  // most bytes that one record may need
  std::size_t limit_;
  const std::vector<std::size_t> destination_bytes_;
  UpcomingSamples upcoming_;
  KnownBlocks known_;
  std::vector<KnownBlock*> now_;  // blocks of the sample that is being planned
  BlocksByNextUse in_memory_;     // the blocks in memory after the last planned sample
  // Evicted blocks that twice the memory would still hold.
  BlocksByNextUse gone_;
  std::vector<std::size_t> taken_;             // which blocks of the planned sample were in `gone_`
  std::vector<std::uint64_t> no_longer_gone_;  // blocks dropped from `gone_` while the sample was planned
  std::uint64_t saved_ = 0;
  // Number of the first sample after the samples whose rows come from the block last decoded into a batch.
  std::uint64_t in_batch_end_ = 0;
  std::size_t in_batch_field_ = 0;
};

}  // namespace penstock::detail::runtime
