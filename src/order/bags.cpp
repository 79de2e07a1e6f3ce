// SPDX-License-Identifier: Apache-2.0
#include "order/bags.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "order/bijection.hpp"

namespace penstock::detail {

void GroupedPositions::add(std::uint64_t group, std::uint64_t first, std::uint64_t positions) {
  if (positions == 0) return;
  Positions& of = groups_[group];
  if (!runs_.empty() && runs_.back().before == group && runs_.back().first + lengths_.back() == first) {
    lengths_.back() += positions;
  } else {
    runs_.push_back({first, group});
    lengths_.push_back(positions);
    ++of.runs;
  }
  of.positions += positions;
}

void GroupedPositions::finish(std::uint64_t min_size) {
  std::uint64_t next = 0;
  for (Positions& group : groups_) {
    group.first_run = next;
    next += std::exchange(group.runs, 0);
  }
  std::vector<Run> sorted(runs_.size());
  std::vector<std::uint64_t> before(groups_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::uint64_t number = runs_[i].before;
    Positions& group = groups_[number];
    sorted[group.first_run + group.runs++] = {runs_[i].first,
                                              std::exchange(before[number], before[number] + lengths_[i])};
  }
  runs_ = std::move(sorted);
  lengths_ = {};
  for (std::uint64_t number = 0; number < groups_.size(); ++number)
    if (groups_[number].positions >= std::max<std::uint64_t>(min_size, 1)) kept_.push_back(number);
}

std::uint64_t GroupedPositions::position(std::uint64_t kept, std::uint64_t i) const {
  const Positions& group = groups_[kept_[kept]];
  const std::span<const Run> runs(runs_.data() + group.first_run, group.runs);
  const Run& run = *(std::ranges::upper_bound(runs, i, {}, &Run::before) - 1);
  return run.first + (i - run.before);
}

std::uint64_t GroupedPositions::hash() const {
  return hash_bytes(runs_.data(), runs_.size() * sizeof(Run),
                    hash_bytes(kept_.data(), kept_.size() * sizeof(std::uint64_t)));
}

Bags::Bags(GroupedPositions groups, std::vector<std::uint64_t> keys, std::uint64_t size,
           const std::optional<Classes>& classes)
    : groups_(std::make_shared<const GroupedPositions>(std::move(groups))),
      keys_(std::make_shared<const std::vector<std::uint64_t>>(std::move(keys))),
      size_(size) {
  if (classes) {
    turns_ = std::make_shared<const ClassTurns>(turns_of(*classes));
    balance_ = ", by " + classes->field + ": " + turns_->describe() + ", hash " +
               std::to_string(hash_bytes(classes->labels.data(), classes->labels.size() * sizeof(std::int64_t)));
    for (const std::uint64_t group : turns_->of_epoch(0, 0)) records_ += records_of(group);
  } else {
    for (std::uint64_t group = 0; group < groups_->groups(); ++group) records_ += records_of(group);
  }
}

ClassTurns Bags::turns_of(const Classes& classes) const {
  std::vector<ClassTurns::Group> groups;
  groups.reserve(groups_->groups());
  for (std::uint64_t group = 0; group < groups_->groups(); ++group) {
    const std::uint64_t number = groups_->number_of(group);
    groups.push_back({classes.labels[number], records_of(group), (*keys_)[number]});
  }
  return ClassTurns(groups);
}

std::string Bags::describe() const {
  return std::to_string(groups_->groups()) + " of at most " + std::to_string(size_) + " records, hash " +
         std::to_string(hash_bytes(keys_->data(), keys_->size() * sizeof(std::uint64_t), groups_->hash())) + balance_;
}

std::uint64_t Bags::records_of(std::uint64_t group) const noexcept { return std::min(size_, groups_->size_of(group)); }

Bags::Table Bags::build(std::uint64_t seed, std::uint64_t epoch) const {
  Table table;
  std::uint64_t before = 0;
  const auto add = [&](std::uint64_t group, std::uint64_t nth) {
    table.bags.push_back({group, before, nth});
    before += records_of(group);
  };
  if (turns_ != nullptr) {
    const std::vector<std::uint64_t> turns = turns_->of_epoch(seed, epoch);
    std::vector<std::uint64_t> came(groups_->groups());
    table.bags.reserve(turns.size());
    for (const std::uint64_t group : turns) add(group, came[group]++);
    return table;
  }
  const std::uint64_t bags = groups_->groups();
  table.bags.reserve(bags);
  const Bijection order(bags, hash_mix(hash_mix(seed, epoch), 0x62616773));
  for (std::uint64_t b = 0; b < bags; ++b) add(order(b), 0);
  return table;
}

void Bags::fill(std::uint64_t seed, std::uint64_t, std::span<OrderPoint> points) const {
  for (std::size_t i = 0; i < points.size();) {
    const std::uint64_t epoch = points[i].epoch, epoch_seed = hash_mix(seed, epoch);
    const auto table = tables_->get({seed, epoch}, [&] { return build(seed, epoch); });
    const Bag& bag = *(std::ranges::upper_bound(table->bags, points[i].position, {}, &Bag::before) - 1);
    const std::uint64_t records = records_of(bag.group), end = bag.before + records;
    // A bag draws without replacement: it is a stretch of a permutation of the group. The permutation depends on the
    // group's key. Later bags of the group in this epoch take the following stretches. When no whole stretch is left,
    // the next bag begins another permutation.
    const std::uint64_t each = groups_->size_of(bag.group) / records, first = bag.nth % each * records;
    std::uint64_t key = hash_mix(epoch_seed, (*keys_)[groups_->number_of(bag.group)]);
    if (bag.nth >= each) key = hash_mix(key, bag.nth / each);
    const Bijection draw(groups_->size_of(bag.group), key);
    for (;
         i < points.size() && points[i].epoch == epoch && points[i].position >= bag.before && points[i].position < end;
         ++i)
      points[i].position = groups_->position(bag.group, draw(first + points[i].position - bag.before));
  }
}

}  // namespace penstock::detail
