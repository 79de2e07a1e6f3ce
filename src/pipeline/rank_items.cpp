// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <penstock/error.hpp>
#include <penstock/rank.hpp>

namespace penstock {

ItemRange Rank::items_of(std::span<const std::uint64_t> sizes) const {
  if (rank < 0 || rank >= world)
    throw Error(Errc::invalid_argument,
                "rank " + std::to_string(rank) + " of " + std::to_string(world) + "; ranks are 0 to world - 1")
        .with_stage("for_rank");
  // The items, one after the other, form a line, which is cut into equal stretches, one per rank. An item goes to the
  // rank whose stretch has the item's middle. Each size is increased by 1, so that an empty item has a middle of its
  // own. Then sizes are doubled, so that a middle is a whole number.
  using Wide = unsigned __int128;
  const auto ranks = static_cast<Wide>(world), own = static_cast<Wide>(rank);
  Wide all = 0;
  for (const std::uint64_t size : sizes) all += Wide{2} * (Wide{size} + 1);
  ItemRange run;
  Wide before = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Wide middle = (before + sizes[i] + 1) * ranks;
    before += Wide{2} * (Wide{sizes[i]} + 1);
    if (middle < all * own || middle >= all * (own + 1)) continue;
    if (run.count == 0) run.first = i;
    ++run.count;
  }
  return run;
}

}  // namespace penstock
