#include "rotation.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/rng.hpp>

#include "bijection.hpp"
#include "hash.hpp"

namespace penstock::detail {

namespace {
// Draws that are mixed with each other.
constexpr std::uint64_t least_window = 64;
constexpr std::uint64_t most_draws = std::uint64_t{1} << 62;
}  // namespace

Rotation::Rotation(Options options) {
  const std::uint64_t window = std::max<std::uint64_t>(least_window, options.weights.size());
  Proportions proportions(options.weights);
  shared_ = std::make_shared<const Shared>(Shared{std::move(options), std::move(proportions), window});
}

std::uint64_t Rotation::size(std::uint64_t n) const {
  const std::uint64_t known = shared_->options.ends.back();
  if (n != known)
    throw Error(Errc::invalid_argument, "it was made for " + std::to_string(known) + " records, but there are " +
                                            std::to_string(n) + "; give it one label for each");
  return shared_->options.count;
}

void Rotation::fill(std::uint64_t seed, std::uint64_t, std::span<OrderPoint> points) const {
  while (!points.empty()) points = points.subspan(fill_window(seed, points));
}

// The first point, and those behind it that fall into the same window.
std::size_t Rotation::fill_window(std::uint64_t seed, std::span<OrderPoint> points) const {
  const Options& options = shared_->options;
  const std::uint64_t epoch = points.front().epoch, number = points.front().position / shared_->window;
  const std::uint64_t first = number * shared_->window, last = std::min(options.count, first + shared_->window);
  // Draws are counted through all epochs, so that what one epoch rounded up the next rounds down.
  const std::uint64_t before = epoch * options.count % most_draws;

  struct Share {
    std::uint64_t set, next;
  };
  std::vector<Share> shares;
  std::vector<std::uint32_t> turns;
  shared_->proportions.share(before + first, before + last,
                             [&](std::uint64_t set, std::uint64_t begin, std::uint64_t end) {
                               turns.insert(turns.end(), end - begin, static_cast<std::uint32_t>(shares.size()));
                               shares.push_back({set, begin});
                             });
  Rng rng(hash_mix(seed, epoch), 0x726f746174696f6e, Place{0, number, 0, 0});
  for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[rng.below(i)]);

  struct Draw {
    std::uint32_t share;
    std::uint64_t ordinal;  ///< among all draws from the set
    OrderPoint* point;
  };
  std::vector<Draw> draws;
  std::vector<std::uint64_t> ordinals(turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) ordinals[i] = shares[turns[i]].next++;
  for (OrderPoint& point : points) {
    if (point.epoch != epoch || point.position < first || point.position >= last) break;
    const std::size_t at = point.position - first;
    draws.push_back({turns[at], ordinals[at], &point});
  }
  // One set after the other: a permutation costs more to make than to use.
  const std::size_t done = draws.size();
  std::ranges::sort(draws, {}, [](const Draw& draw) { return std::pair(draw.share, draw.ordinal); });
  std::optional<Bijection> permutation;
  std::pair<std::uint64_t, std::uint64_t> whose{};
  for (const Draw& draw : draws) {
    const std::uint64_t set = shares[draw.share].set, begin = set == 0 ? 0 : options.ends[set - 1];
    const std::uint64_t records = options.ends[set] - begin;
    const std::pair round(set, draw.ordinal / records);
    if (!permutation || whose != round) {
      permutation.emplace(records, hash_mix(hash_mix(seed, round.first), round.second));
      whose = round;
    }
    const std::uint64_t member = begin + (*permutation)(draw.ordinal % records);
    draw.point->position = options.members.empty() ? member : options.members[member];
  }
  return done;
}

}  // namespace penstock::detail
