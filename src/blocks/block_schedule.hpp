#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/memory.hpp>

namespace penstock::detail {

/// One stay of a block in memory.
struct Residency {
  std::uint64_t block = 0;
  std::size_t bytes = 0;
  std::byte* data = nullptr;
  std::uint64_t first_user = 0;  ///< the sample it is loaded for
  bool done = false;             ///< loaded, or failed
  std::size_t field = 0;         ///< of one that is placed: slot of the source's schema
  bool placed = false;           ///< it is decoded to its rows' places in a batch, and takes no memory of its own
  std::optional<Error> failure;
  std::vector<std::uint64_t> waiters;  ///< samples that wait for it
};

/// Which blocks are decoded when, and which sample can be made.
///
/// What stays is decided in the order of samples and of nothing else: each sample, in turn, finds its blocks or has
/// them loaded, for which those make room whose next use is farthest, as far as the next `lookahead` samples tell; of
/// those without one, that which was used longest ago. But where a block would need room, and is nothing but rows that
/// stand side by side in the batch, in their order, and no other use of it is known, it is decoded to their places
/// there instead, and forgotten. So the number of decodes does not depend on threads or time. Loads begin in that
/// order, each as soon as there is memory: what an earlier sample still uses is gone before a later one's block comes,
/// so the oldest sample that is not made never waits for anything but loads that have begun.
class BlockSchedule {
 public:
  /// Appends the source indices that come next, in order, some at a time; nothing: there are no more.
  using Feed = std::function<void(std::vector<std::uint64_t>&)>;

  /// `in_flight`: the most samples that are issued and not made. `place_bytes`: of each field of the source, the bytes
  /// of a row in the batch, where its values may be decoded there; else 0.
  BlockSchedule(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead, std::size_t in_flight,
                MemoryResource& memory, std::vector<std::size_t> place_bytes = {});
  BlockSchedule(const BlockSchedule&) = delete;
  BlockSchedule& operator=(const BlockSchedule&) = delete;
  ~BlockSchedule();

  /// Begins again. Only while nothing is in work. Blocks are kept.
  void reset(Feed feed);

  // -- the thread that issues --
  /// Asks for what the next `count` samples of the feed need, and those after them: the feed, and the source.
  void prepare(std::uint64_t count) noexcept;
  /// Samples number `first` …, a batch, may be made now, and are the next in order: those of the feed, `of_feed` of
  /// them, then others that need no block.
  void issue(std::uint64_t first, std::uint64_t of_feed, std::uint64_t count) noexcept;

  struct Work {
    std::shared_ptr<Residency> load;      ///< to be loaded; null: a sample
    std::optional<std::uint64_t> sample;  ///< to be made
    explicit operator bool() const noexcept { return load != nullptr || sample.has_value(); }
  };
  // -- any thread --
  /// What comes first of all that can be done now.
  Work take() noexcept;
  bool available() const noexcept { return available_.load(std::memory_order_seq_cst); }
  /// Loads a block; `place`: where its rows stand in the batch, of one that is placed. True: there is more to do than
  /// there was.
  bool load(std::shared_ptr<Residency> load, std::byte* place = nullptr) noexcept;
  /// The blocks of a sample in work, which is record `index`, in their order. False: they were not planned, and its
  /// reader is to find them. @throws Error of a block that could not be loaded.
  bool blocks_of(std::uint64_t sample, std::uint64_t index, std::vector<std::span<const std::byte>>& out);
  /// A sample is made. True: there is more to do than there was.
  bool done(std::uint64_t sample) noexcept;

  struct Counts {
    std::uint64_t loads = 0, uses = 0;
    std::size_t peak_bytes = 0;
  };
  Counts counts() const;

 private:
  struct Sample {
    std::vector<std::shared_ptr<Residency>> blocks;
    std::uint32_t missing = 0;
    bool planned = false;
    std::uint64_t index = 0;
    std::size_t too_large = 0;  ///< bytes that its blocks need, where that is more than there is
  };
  struct Upcoming {
    std::uint64_t index = 0;
    std::vector<std::uint64_t> blocks;                            ///< in the record's order
    std::vector<std::pair<std::uint64_t, std::size_t>> distinct;  ///< by number, with their bytes
    std::size_t bytes = 0;                                        ///< of them; saturates
    std::optional<BlockRows> rows;                                ///< of the only one, where it could be placed
    bool known = false;
  };
  struct Stay {
    std::shared_ptr<Residency> residency;
    std::uint64_t key = 0;  ///< in `by_next_use_`
    std::uint64_t last_use = 0;
  };

  void plan(std::uint64_t number, std::uint64_t left);
  bool can_be_placed(const Upcoming& now, std::uint64_t left) const;
  bool fetch();
  void describe(Upcoming& next) const;
  void look_ahead();
  bool next_index(std::uint64_t& index);
  std::uint64_t key_of(std::uint64_t block, std::uint64_t last_use) const;
  void make_room(std::size_t bytes);
  void stay(std::uint64_t block, Stay stay);
  bool load_can_begin() const noexcept;
  void drop(std::shared_ptr<Residency>& residency) noexcept;
  void update() noexcept;
  std::byte* take_memory(std::size_t bytes);
  using Spares = std::vector<std::pair<std::byte*, std::size_t>>;
  Spares spares_beyond(std::size_t bytes) noexcept;
  void free(const Spares& spares) noexcept;

  const BlockModel& model_;
  const std::size_t limit_;
  const std::uint64_t lookahead_;
  MemoryResource& memory_;

  std::mutex memory_mutex_;  ///< while memory is taken from the resource; before the other one
  mutable std::mutex mutex_;
  std::atomic<bool> available_{false};
  const std::size_t in_flight_;
  const std::vector<std::size_t> place_bytes_;

  // The plan: the issuing thread's.
  Feed feed_;
  std::vector<std::uint64_t> fed_;  ///< indices of the feed that are not looked at
  std::size_t fed_at_ = 0;
  std::deque<Upcoming> fetched_;       ///< that the plan does not know yet
  std::deque<Upcoming> upcoming_;      ///< that it knows, from sample `planned_` on
  std::uint64_t planned_ = 0;          ///< samples of the feed
  std::shared_ptr<Residency> placed_;  ///< the one that samples before number `placed_end_` are rows of
  std::uint64_t placed_end_ = 0;
  std::unordered_map<std::uint64_t, std::deque<std::uint64_t>> next_uses_;

  // What the plan has in memory after the last planned sample.
  std::unordered_map<std::uint64_t, Stay> stays_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_next_use_;  ///< (key, block)
  std::size_t planned_bytes_ = 0;

  // The work: of the mutex, and residencies as well.
  std::vector<Sample> samples_;  ///< number n is n % size
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> ready_;
  std::deque<std::shared_ptr<Residency>> loads_;  ///< that have not begun
  std::size_t used_bytes_ = 0;                    ///< of blocks that are loaded or loading, and in use or planned
  Spares spares_;
  std::size_t spare_bytes_ = 0;
  bool out_of_memory_ = false;  ///< the plan is lost: each reader finds its blocks
  Counts counts_;
};

}  // namespace penstock::detail
