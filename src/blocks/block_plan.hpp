#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/extend/block_source.hpp>

namespace penstock::detail {

/// Which blocks are in memory when a sample is made, and which go.
///
/// That is decided in the order of samples and of nothing else, so the number of decodes does not depend on threads or
/// time. Each sample, in turn, finds its blocks or has them loaded:
///
/// - The blocks make room whose next use is farthest, as far as the next `lookahead` samples tell; of blocks without a
///   known use, the one that was used longest ago.
/// - A block that would need room, and consists of rows that stand side by side in the batch, in their order, is
/// decoded
///   into the batch instead and forgotten, if no other use of it is known before those of the blocks that would go.
/// - A block that its record can do without is loaded where there is room, or where two more uses of it are known and
///   the next one comes before those of the blocks that would go. Else the record decodes its part for itself.
///
/// It knows as well what it would hold in twice the memory: blocks that go stay in a second plan of the same size, from
/// which those go whose next use is farthest. Where blocks are of one size, that is what the larger memory would have.
///
/// One thread at a time. It holds numbers alone, no block.
class BlockPlan {
 public:
  /// Appends the source indices that come next, in order, some at a time; nothing: there are no more.
  using Feed = std::function<void(std::vector<std::uint64_t>&)>;

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
    const auto found = known_.find(block);
    return found != known_.end() && found->second.stays;
  }
  /// Of the loads that were planned, those that twice the memory would have saved, about.
  std::uint64_t saved_by_double() const noexcept { return saved_; }
  /// Asks the feed, and the source, for what the next `count` samples need, and those after them.
  void prepare(std::uint64_t count) noexcept;

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
  struct Block {
    std::uint64_t number;
    std::size_t bytes = 0;
    bool spare = false;          // the record can do without it
    std::uint64_t next_use = 0;  // number of the next sample in sight that needs it; where there is one
  };
  struct Upcoming {
    std::uint64_t index = 0;
    std::vector<std::uint64_t> blocks;  // blocks in the record's order
    std::vector<Block> distinct;        // blocks by number, each once
    std::size_t bytes = 0;              // bytes of blocks that it can't do without; saturates
    std::optional<BlockRows> rows;      // rows of its only block, where that could go into the batch
    bool known = false;
  };
  /// A block that samples in sight need, or that is in memory after the last planned sample, or both.
  struct Known {
    std::uint64_t uses = 0;                        // uses by samples in sight
    std::uint64_t next_use = 0, farthest_use = 0;  // their numbers
    bool stays = false;                            // is in memory
    bool gone = false;                             // went, and is one of `gone_by_next_use_`
    std::size_t bytes = 0;                         // where it is one of both:
    std::uint64_t key = 0;                         // key in that set
    std::uint64_t last_use = 0;
  };

  bool fetch();
  void describe(Upcoming& next) const;
  void look_ahead();
  Known& known(std::uint64_t block);
  void note_use(std::uint64_t sample, const Block& needed);
  struct Room {
    std::size_t missing;  // bytes that are loaded for the sample
    std::size_t own;      // bytes of all blocks that it has
  };
  void plan(Upcoming& now, std::uint64_t use, std::uint64_t left, Sample& out);
  bool plan_in_batch(const Upcoming& now, std::uint64_t use, std::uint64_t left, Sample& out);
  void list_needs(const Upcoming& now, Room& room, std::vector<Need>& needs);
  void leave_spare_blocks(const Upcoming& now, Room& room, std::vector<Need>& needs);
  void add_spare_blocks(const Upcoming& now, Room& room, Sample& out);
  void note_needs(const Upcoming& now, std::uint64_t use, const std::vector<Need>& needs);
  void forget(std::uint64_t block);
  bool can_go_into_batch(const Upcoming& now, const Known& block, std::uint64_t left) const;
  static std::uint64_t key_of(const Known& block, std::uint64_t last_use) noexcept;
  void make_room(std::size_t bytes, std::vector<std::uint64_t>& evicted);
  bool has_room_before(std::size_t bytes, std::uint64_t key) const;
  void remember(std::uint64_t number, Known& block);
  void take_gone(const Upcoming& now);
  void note_gone(const Upcoming& now, std::uint64_t use, const Sample& out);

  const BlockModel& model_;
  const std::size_t record_limit_;  // bytes that one record may need
  std::size_t limit_;
  const std::uint64_t lookahead_, at_least_;
  const std::vector<std::size_t> destination_bytes_;

  Feed feed_;
  std::vector<std::uint64_t> fed_;  // indices of the feed that are not looked at
  std::size_t fed_at_ = 0;
  std::deque<Upcoming> fetched_;                        // samples that the plan does not know yet
  std::deque<Upcoming> upcoming_;                       // samples that it knows, from sample `planned_` on
  std::uint64_t planned_ = 0;                           // samples of the feed that are planned
  std::uint64_t fetched_uses_ = 0, upcoming_uses_ = 0;  // uses of blocks by those samples
  std::vector<Upcoming> spare_;                         // room that is kept

  std::unordered_map<std::uint64_t, Known> known_;
  // Nodes of `known_` that are kept: thousands come and go.
  std::vector<std::unordered_map<std::uint64_t, Known>::node_type> nodes_;
  std::vector<Known*> now_;  // blocks of the sample that is planned
  // What is in memory after the last planned sample.
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_next_use_;  // (key, block)
  std::size_t bytes_ = 0;
  // What twice the memory would hold besides.
  std::set<std::pair<std::uint64_t, std::uint64_t>> gone_by_next_use_;  // (key, block)
  std::vector<std::size_t> taken_;             // blocks of the sample that is planned, which were among these
  std::vector<std::uint64_t> no_longer_gone_;  // blocks that its plan drove out of these
  std::size_t gone_bytes_ = 0;
  std::uint64_t saved_ = 0;
  std::uint64_t in_batch_end_ = 0;  // samples before this number are rows of the block that went into a batch last
  std::size_t in_batch_field_ = 0;
};

}  // namespace penstock::detail
