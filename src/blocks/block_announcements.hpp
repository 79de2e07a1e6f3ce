// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/extend/block_source.hpp>

#include "blocks/upcoming_samples.hpp"

namespace penstock::detail::runtime {

/// Tells a source which blocks a run is about to load (`BlockSource::will_load`), so that it can begin to fetch them.
///
/// Looks at samples of its own copy of the feed, farther ahead than the plan, until enough blocks are announced. So how
/// far it looks ahead follows from blocks, and not from how many samples share a block. Only `reset`,
/// `look_ahead` and the destructor call the source.
///
/// One thread uses it. Exception: any thread may call `loaded`, while no other thread calls `loaded` or `loads`.
class BlockAnnouncements {
 public:
  using Feed = UpcomingSamples::Feed;

  explicit BlockAnnouncements(const BlockModel& model) : model_(model), most_(model.blocks_ahead()) {}
  BlockAnnouncements(const BlockAnnouncements&) = delete;
  BlockAnnouncements& operator=(const BlockAnnouncements&) = delete;
  ~BlockAnnouncements() { withdraw(); }

  /// Returns whether the source wants to know.
  bool wanted() const noexcept { return most_.blocks != 0; }
  /// Withdraws what is announced, and starts again with the samples of `feed`.
  void reset(Feed feed) noexcept;
  /// Announces blocks of coming samples. `planned`: number of samples that were planned since `reset`. `has(block)`
  /// returns whether the block is in memory after these.
  void look_ahead(std::uint64_t planned, const std::function<bool(std::uint64_t block)>& has) noexcept;

  /// A load has ended for which `loads` returned true.
  void loaded(std::uint64_t block) noexcept;

  // -- what the plan of the sample with number `sample` decides; call in this order --
  /// The sample loads the block. Returns whether that load ends an announcement.
  bool loads(std::uint64_t block) noexcept;
  /// The block is evicted. If a later sample in sight needs it, the next `look_ahead` announces it.
  void evicted(std::uint64_t block, std::uint64_t sample) noexcept;
  /// The sample needs these blocks. Of those that no later sample in sight needs, the next `look_ahead` withdraws the
  /// ones that are announced and not loaded.
  void planned(const std::vector<std::uint64_t>& blocks, std::uint64_t sample) noexcept;

 private:
  struct Seen {
    std::uint64_t last_use = 0;  // number of the last sample in sight that needs the block
    std::uint64_t bytes = 0;
    bool announced = false;  // announced and not loaded; counted in `announced_`
    bool told = false;       // the source knows that it is announced
  };
  bool fetch();
  void see(std::uint64_t block, std::uint64_t sample, const std::function<bool(std::uint64_t)>& has);
  void announce(std::uint64_t block, Seen& seen);
  void forget(Seen& seen) noexcept;
  void tell() noexcept;
  void stop() noexcept;
  void withdraw() noexcept;

  const BlockModel& model_;
  const BlocksAhead most_;
  Feed feed_;
  std::vector<std::uint64_t> fed_;  // indices from the feed, of which the first `fed_at_` were looked at
  std::size_t fed_at_ = 0;
  std::uint64_t next_ = 0;                        // number of the next sample to look at
  std::unordered_map<std::uint64_t, Seen> seen_;  // blocks of samples in sight that are not planned
  // Announced blocks that the plan loads, and that are not loaded yet; how often.
  std::unordered_map<std::uint64_t, std::uint64_t> due_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::uint64_t> news_, withdrawn_;  // what the source must be told
  std::uint64_t announced_ = 0, announced_bytes_ = 0;
};

}  // namespace penstock::detail::runtime
