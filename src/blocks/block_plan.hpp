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
/// Only the order of the samples decides that, so the number of decodes does not depend on threads or time. Each
/// sample, in turn, finds its blocks or has them loaded:
///
/// - The blocks with the farthest next use make room, as far as the next `lookahead` samples show. Blocks without a
///   known use go first, the one used longest ago before the others.
/// - A block that would need room may be decoded straight into the batch and then forgotten. Its rows must be side by
///   side in the batch, in their order. Also, no other use of it may be known before the next uses of the blocks that
///   would be evicted.
/// - A block that its record can do without is loaded if there is room. It is also loaded if two more uses of it are
///   known and the next one comes before the next uses of the blocks that would be evicted. Otherwise the record
///   decodes its part by itself.
///
/// It also knows which blocks twice the memory would hold. Evicted blocks move to a second plan of the same size, which
/// evicts the blocks with the farthest next use. If blocks have one size, both plans together hold what the larger
/// memory would.
///
/// One thread at a time. It keeps only numbers, not the blocks.
class BlockPlan {
 public:
  using Feed = UpcomingSamples::Feed;

  /// It looks `lookahead` samples ahead if these have few blocks. If they use more than 16,384 blocks, it looks only as
  /// far as these reach, but at least `at_least` samples. `destination_bytes`: for each field of the source, the bytes
  /// of a row in the batch if its values may be decoded there; otherwise 0.
  BlockPlan(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead,
            std::vector<std::size_t> destination_bytes, std::uint64_t at_least = ~std::uint64_t{0});

  /// Starts again, with the blocks in memory. `keeps` returns whether one of them may stay.
  void reset(Feed feed, const std::function<bool(std::uint64_t block)>& keeps);
  /// Raises the memory limit. REQUIRES: `bytes` is not below the present limit, and nothing is planned until it
  /// returns. The limit of the constructor still decides whether a record is too large, so that the result does not
  /// depend on when memory is added.
  void raise_limit(std::size_t bytes) noexcept { limit_ = bytes; }
  /// Returns whether a block is in memory after the last planned sample.
  bool has(std::uint64_t block) const {
    const KnownBlock* const known = known_.find(block);
    return known != nullptr && known->stays;
  }
  /// Returns about how many of the planned loads twice the memory would have avoided.
  std::uint64_t saved_by_double() const noexcept { return saved_; }
  /// Asks the feed and the source for the needs of the next `count` samples and of the samples after them.
  void prepare(std::uint64_t count) noexcept { upcoming_.prepare(count); }

  struct Need {
    std::uint64_t block;
    std::size_t bytes;
    bool loads;  ///< it is not in memory, and is loaded for this sample
  };
  /// The plan for one sample.
  struct Sample {
    std::uint64_t index = 0;              ///< source index of its record
    std::vector<std::uint64_t> blocks;    ///< blocks that it is made of, in its record's order
    std::vector<Need> needs;              ///< blocks by number, each once, without those that it does without
    std::vector<std::uint64_t> evicted;   ///< blocks to evict before
    std::size_t too_large = 0;            ///< bytes that it needs, if that is more than the limit; then nothing else is
                                          ///< set
    std::optional<std::size_t> in_batch;  ///< the field, if its only block is decoded into the batch
  };
  /// Plans the next sample of the feed. `left`: samples that are still to come in its batch, including this one.
  /// Returns false if no sample is left, or the source can't specify its needs. @throws std::bad_alloc; then the plan
  /// can't be used before the next `reset`.
  bool next(std::uint64_t left, Sample& out);

 private:
  struct Room {
    std::size_t missing;  // bytes to load for the sample
    std::size_t own;      // bytes of all its blocks
  };
  void look_ahead();
  void note_use(std::uint64_t sample, const UpcomingBlock& needed);
  void plan(const UpcomingSample& now, std::uint64_t use, std::uint64_t left, Sample& out);
  bool plan_in_batch(const UpcomingSample& now, std::uint64_t use, std::uint64_t left, Sample& out);
  bool can_go_into_batch(const UpcomingSample& now, const KnownBlock& block, std::uint64_t left) const;
  void list_needs(const UpcomingSample& now, Room& room, std::vector<Need>& needs);
  void leave_spare_blocks(const UpcomingSample& now, Room& room, std::vector<Need>& needs);
  void add_spare_blocks(const UpcomingSample& now, Room& room, Sample& out);
  void note_needs(const UpcomingSample& now, std::uint64_t use, const std::vector<Need>& needs);
  bool has_room_before(std::size_t bytes, std::uint64_t key) const;
  void make_room(std::size_t bytes, std::vector<std::uint64_t>& evicted);
  void remember(std::uint64_t number, KnownBlock& block);
  void take_gone(const UpcomingSample& now);
  void note_gone(const UpcomingSample& now, std::uint64_t use, const Sample& out);

  const std::size_t record_limit_;  // most bytes that one record may need
  std::size_t limit_;
  const std::vector<std::size_t> destination_bytes_;
  UpcomingSamples upcoming_;
  KnownBlocks known_;
  std::vector<KnownBlock*> now_;  // blocks of the sample that is planned
  BlocksByNextUse in_memory_;     // after the last planned sample
  // Blocks that only twice the memory would hold.
  BlocksByNextUse gone_;
  std::vector<std::size_t> taken_;             // blocks of the planned sample that were among these
  std::vector<std::uint64_t> no_longer_gone_;  // blocks that its plan evicted from these
  std::uint64_t saved_ = 0;
  std::uint64_t in_batch_end_ = 0;  // samples before this number are rows of the block that went into a batch last
  std::size_t in_batch_field_ = 0;
};

}  // namespace penstock::detail::runtime
