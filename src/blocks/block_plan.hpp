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

/// Which blocks are in memory when a sample is made, and which go.
///
/// That is decided in the order of samples and of nothing else, so the number of decodes does not depend on threads or
/// time. Each sample, in turn, finds its blocks or has them loaded:
///
/// - The blocks make room whose next use is farthest, as far as the next `lookahead` samples tell; of blocks without a
///   known use, the one that was used longest ago.
/// - A block that would need room, and consists of rows that stand side by side in the batch, in their order, is
///   decoded into the batch instead and forgotten, if no other use of it is known before those of the blocks that would
///   go.
/// - A block that its record can do without is loaded where there is room, or where two more uses of it are known and
///   the next one comes before those of the blocks that would go. Else the record decodes its part for itself.
///
/// It knows as well what it would hold in twice the memory: blocks that go stay in a second plan of the same size, from
/// which those go whose next use is farthest. Where blocks are of one size, that is what the larger memory would have.
///
/// One thread at a time. It holds numbers alone, no block.
class BlockPlan {
 public:
  using Feed = UpcomingSamples::Feed;

  /// It knows `lookahead` samples ahead, as long as these have few blocks: not more than `at_least` samples, where
  /// those use more than 16,384 of them. `destination_bytes`: of each field of the source, the bytes of a row in the
  /// batch, where its values may be decoded there; else 0.
  BlockPlan(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead,
            std::vector<std::size_t> destination_bytes, std::uint64_t at_least = ~std::uint64_t{0});

  /// Begins again, with the blocks that are there. `keeps` says whether one of them may stay.
  void reset(Feed feed, const std::function<bool(std::uint64_t block)>& keeps);
  /// There are so many bytes from now on, no fewer than before. A record is too large for its blocks as it was at
  /// first: what becomes of it must not depend on when there is more. Nobody plans meanwhile.
  void raise_limit(std::size_t bytes) noexcept { limit_ = bytes; }
  /// A block is in memory after the last planned sample.
  bool has(std::uint64_t block) const {
    const KnownBlock* const known = known_.find(block);
    return known != nullptr && known->stays;
  }
  /// Of the loads that were planned, those that twice the memory would have saved, about.
  std::uint64_t saved_by_double() const noexcept { return saved_; }
  /// Asks the feed, and the source, for what the next `count` samples need, and those after them.
  void prepare(std::uint64_t count) noexcept { upcoming_.prepare(count); }

  struct Need {
    std::uint64_t block;
    std::size_t bytes;
    bool loads;  ///< it is not there, and is loaded for this sample
  };
  /// What the plan says of one sample.
  struct Sample {
    std::uint64_t index = 0;              ///< source index of its record
    std::vector<std::uint64_t> blocks;    ///< blocks that it is made of, in its record's order
    std::vector<Need> needs;              ///< blocks by number, each once, but for those that it does without
    std::vector<std::uint64_t> evicted;   ///< blocks that go first
    std::size_t too_large = 0;            ///< bytes that it needs, where that is more than there is: then nothing else
    std::optional<std::size_t> in_batch;  ///< its only block is decoded into the batch: this field
  };
  /// The next sample of the feed, of which `left`, with it, are to come in its batch. False: there is none, or the
  /// source can't say what it needs. @throws std::bad_alloc: the plan is of no use before the next `reset`.
  bool next(std::uint64_t left, Sample& out);

 private:
  struct Room {
    std::size_t missing;  // bytes that are loaded for the sample
    std::size_t own;      // bytes of all blocks that it has
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

  const std::size_t record_limit_;  // bytes that one record may need
  std::size_t limit_;
  const std::vector<std::size_t> destination_bytes_;
  UpcomingSamples upcoming_;
  KnownBlocks known_;
  std::vector<KnownBlock*> now_;  // blocks of the sample that is planned
  BlocksByNextUse in_memory_;     // after the last planned sample
  // What twice the memory would hold besides.
  BlocksByNextUse gone_;
  std::vector<std::size_t> taken_;             // blocks of the sample that is planned, which were among these
  std::vector<std::uint64_t> no_longer_gone_;  // blocks that its plan drove out of these
  std::uint64_t saved_ = 0;
  std::uint64_t in_batch_end_ = 0;  // samples before this number are rows of the block that went into a batch last
  std::size_t in_batch_field_ = 0;
};

}  // namespace penstock::detail::runtime
