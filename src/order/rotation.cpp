// SPDX-License-Identifier: Apache-2.0
#include "order/rotation.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>

#include "base/hash.hpp"
#include "order/bijection.hpp"

namespace penstock::detail {

namespace {
// The least number of draws in a stretch; only the last stretch of an epoch may have fewer. The draws of a stretch are
// shuffled.
constexpr std::uint64_t min_stretch = 64;
constexpr std::uint64_t max_draws = std::uint64_t{1} << 62;
}  // namespace

Rotation::Rotation(Options options) {
  const std::uint64_t stretch = std::max<std::uint64_t>(min_stretch, options.weights.size());
  Proportions proportions(options.weights);
  shared_ = std::make_shared<const Shared>(Shared{std::move(options), std::move(proportions), stretch});
}

std::uint64_t Rotation::size(std::uint64_t n) const {
  const std::uint64_t known = shared_->options.ends.back();
  if (n != known)
    throw Error(Errc::invalid_argument, "it was made for " + std::to_string(known) + " records, but there are " +
                                            std::to_string(n) + "; give it one label for each");
  return shared_->options.count;
}

void Rotation::fill(std::uint64_t seed, std::uint64_t, std::span<OrderPoint> points) const {
  while (!points.empty()) points = points.subspan(fill_stretch(seed, points));
}

Rotation::Stretch Rotation::build(std::uint64_t seed, std::uint64_t epoch, std::uint64_t number) const {
  const Options& options = shared_->options;
  const std::uint64_t first = number * shared_->stretch, last = std::min(options.count, first + shared_->stretch);
  // Draws are counted through all epochs. So if a set's share is rounded up in one epoch, it is rounded down in
  // another.
  const std::uint64_t before = epoch * options.count % max_draws;
  Stretch stretch;
  std::vector<Turn> next;  // next turn of each set that gets any of these draws
  std::vector<std::size_t> whose;
  shared_->proportions.share(before + first, before + last,
                             [&](std::uint64_t set, std::uint64_t begin, std::uint64_t end) {
                               whose.insert(whose.end(), end - begin, next.size());
                               next.push_back({set, begin});
                             });
  Rng rng(hash_mix(seed, epoch), 0x726f746174696f6e, Place{0, number, 0, 0});
  for (std::size_t i = whose.size(); i > 1; --i) std::swap(whose[i - 1], whose[rng.below(i)]);
  stretch.turns.reserve(whose.size());
  for (const std::size_t i : whose) {
    stretch.turns.push_back(next[i]);
    ++next[i].ordinal;
  }
  return stretch;
}

// Fills the first point and the points after it that are in the same stretch. Returns how many points it filled.
std::size_t Rotation::fill_stretch(std::uint64_t seed, std::span<OrderPoint> points) const {
  const Options& options = shared_->options;
  const std::uint64_t epoch = points.front().epoch, number = points.front().position / shared_->stretch;
  const auto stretch = stretches_->get({seed, epoch, number}, [&] { return build(seed, epoch, number); });

  struct Draw {
    Turn turn;
    OrderPoint* point;
  };
  std::vector<Draw> draws;
  for (OrderPoint& point : points) {
    if (point.epoch != epoch || point.position / shared_->stretch != number) break;
    draws.push_back({stretch->turns[point.position % shared_->stretch], &point});
  }
  // The draws of one set are handled together, because making a permutation costs more than using it.
  std::ranges::sort(draws, {}, [](const Draw& draw) { return std::pair(draw.turn.set, draw.turn.ordinal); });
  std::optional<Bijection> permutation;
  std::pair<std::uint64_t, std::uint64_t> made_for;
  for (const auto& [turn, point] : draws) {
    const std::uint64_t begin = turn.set == 0 ? 0 : options.ends[turn.set - 1];
    const std::uint64_t records = options.ends[turn.set] - begin;
    const std::pair pass(turn.set, turn.ordinal / records);
    if (!permutation || made_for != pass) {
      permutation.emplace(records, hash_mix(hash_mix(seed, pass.first), pass.second));
      made_for = pass;
    }
    const std::uint64_t member = begin + (*permutation)(turn.ordinal % records);
    point->position = options.members.empty() ? member : options.members[member];
  }
  return draws.size();
}

}  // namespace penstock::detail
