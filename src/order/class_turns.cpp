// SPDX-License-Identifier: Apache-2.0
#include "order/class_turns.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>

#include "base/hash.hpp"
#include "order/bijection.hpp"

namespace penstock::detail {

namespace {

constexpr std::uint64_t turns_key = 0x7475726e73, rounds_key = 0x726f756e6473;

void shuffle(std::span<std::uint64_t> values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

}  // namespace

ClassTurns::ClassTurns(std::span<const Group> groups) : members_(groups.size()) {
  std::iota(members_.begin(), members_.end(), std::uint64_t{0});
  std::ranges::sort(members_, {}, [&](std::uint64_t i) { return std::tuple(groups[i].label, groups[i].size, i); });
  for (std::uint64_t at = 0; at < members_.size(); ++at) {
    const Group& group = groups[members_[at]];
    const Group* const before = at == 0 ? nullptr : &groups[members_[at - 1]];
    const bool other_class = before == nullptr || before->label != group.label;
    if (other_class) classes_.push_back({strata_.size(), 0, 0});
    if (other_class || before->size != group.size) {
      strata_.push_back({at, 0});
      ++classes_.back().strata;
    }
    ++strata_.back().groups;
    ++classes_.back().groups;
  }
  for (const Class& one : classes_) rounds_ = std::max(rounds_, one.groups);
  if (!classes_.empty() && rounds_ > max_turns / classes_.size())
    throw Error(Errc::invalid_argument, "of " + std::to_string(classes_.size()) + " classes the largest has " +
                                            std::to_string(rounds_) + " groups, and as many bags of each would be " +
                                            "more than the " + std::to_string(max_turns) +
                                            " that an epoch may have; balance by a field of fewer classes");
  for (const Class& one : classes_) share_turns(one, groups);
}

// Shares the turns of a class among its strata, in proportion to their numbers of groups, rounded down. The turns that
// are left go to the strata with the largest remainders.
void ClassTurns::share_turns(const Class& among, std::span<const Group> groups) {
  struct Remainder {
    std::uint64_t remainder, key;
    Stratum* of;
  };
  std::vector<Remainder> remainders;
  std::uint64_t left = rounds_;
  for (Stratum& stratum : std::span(strata_).subspan(among.first, among.strata)) {
    const std::uint64_t share = rounds_ * stratum.groups;  // below 2^54
    stratum.turns = share / among.groups;
    left -= stratum.turns;
    remainders.push_back({share % among.groups, groups[members_[stratum.first]].key, &stratum});
  }
  std::ranges::sort(remainders, [](const Remainder& a, const Remainder& b) {
    return std::tuple(b.remainder, a.key, a.of) < std::tuple(a.remainder, b.key, b.of);
  });
  for (std::uint64_t i = 0; i < left; ++i) ++remainders[i].of->turns;
}

// Writes the group of each turn of one class.
void ClassTurns::fill_class(std::uint64_t number, std::uint64_t seed, std::uint64_t epoch,
                            std::span<std::uint64_t> turns) const {
  const Class& one = classes_[number];
  std::size_t next = 0;
  for (std::uint64_t s = one.first; s < one.first + one.strata; ++s) {
    const Stratum& stratum = strata_[s];
    const std::uint64_t whole = stratum.turns / stratum.groups, more = stratum.turns % stratum.groups;
    for (std::uint64_t i = 0; i < whole * stratum.groups; ++i)
      turns[next++] = members_[stratum.first + i % stratum.groups];
    if (more == 0) continue;
    // The turns that are left go round a circle of the groups, through all epochs. An epoch has fewer of these turns
    // than there are groups, so no group gets two of them in one epoch.
    const Bijection circle(stratum.groups, hash_mix(seed, s));
    const std::uint64_t first = epoch % stratum.groups * more;
    for (std::uint64_t i = 0; i < more; ++i)
      turns[next++] = members_[stratum.first + circle((first + i) % stratum.groups)];
  }
  Rng rng(hash_mix(seed, epoch), turns_key, Place{0, number, 0, 0});
  shuffle(turns, rng);
}

std::vector<std::uint64_t> ClassTurns::of_epoch(std::uint64_t seed, std::uint64_t epoch) const {
  const std::uint64_t classes = classes_.size();
  std::vector<std::uint64_t> of_classes(rounds_ * classes), out;
  for (std::uint64_t c = 0; c < classes; ++c)
    fill_class(c, seed, epoch, std::span(of_classes).subspan(c * rounds_, rounds_));
  out.reserve(of_classes.size());
  std::vector<std::uint64_t> round(classes);
  std::iota(round.begin(), round.end(), std::uint64_t{0});
  for (std::uint64_t r = 0; r < rounds_; ++r) {
    const std::uint64_t last = round.empty() ? 0 : round.back();
    Rng rng(hash_mix(seed, epoch), rounds_key, Place{0, r, 0, 0});
    shuffle(round, rng);
    // Prevents two turns of a class in succession, because both could belong to the same group.
    if (r != 0 && classes > 1 && round.front() == last) std::swap(round.front(), round[1 + rng.below(classes - 1)]);
    for (const std::uint64_t c : round) out.push_back(of_classes[c * rounds_ + r]);
  }
  return out;
}

std::string ClassTurns::describe() const {
  constexpr std::size_t most_named = 8;
  std::string text = std::to_string(classes_.size()) + (classes_.size() == 1 ? " class (of " : " classes (of ");
  for (std::size_t c = 0; c < std::min(most_named, classes_.size()); ++c)
    text += (c == 0 ? "" : ", ") + std::to_string(classes_[c].groups);
  if (classes_.size() > most_named) text += ", …";
  return text + " groups), " + std::to_string(rounds_ * classes_.size()) + " bags an epoch";
}

}  // namespace penstock::detail
