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

Bags::Bags(GroupedPositions groups, std::vector<std::uint64_t> keys, std::uint64_t size)
    : groups_(std::make_shared<const GroupedPositions>(std::move(groups))),
      keys_(std::make_shared<const std::vector<std::uint64_t>>(std::move(keys))),
      size_(size) {
  for (std::uint64_t group = 0; group < groups_->groups(); ++group) records_ += records_of(group);
}

std::string Bags::describe() const {
  return std::to_string(groups_->groups()) + " of at most " + std::to_string(size_) + " records, hash " +
         std::to_string(hash_bytes(keys_->data(), keys_->size() * sizeof(std::uint64_t), groups_->hash()));
}

std::uint64_t Bags::records_of(std::uint64_t group) const noexcept { return std::min(size_, groups_->size_of(group)); }

Bags::Table Bags::build(std::uint64_t epoch_seed) const {
  Table table;
  const std::uint64_t bags = groups_->groups();
  table.bags.reserve(bags);
  const Bijection order(bags, hash_mix(epoch_seed, 0x62616773));
  std::uint64_t before = 0;
  for (std::uint64_t b = 0; b < bags; ++b) {
    const std::uint64_t group = order(b);
    table.bags.push_back({group, before});
    before += records_of(group);
  }
  return table;
}

void Bags::fill(std::uint64_t seed, std::uint64_t, std::span<OrderPoint> points) const {
  for (std::size_t i = 0; i < points.size();) {
    const std::uint64_t epoch = points[i].epoch, epoch_seed = hash_mix(seed, epoch);
    const auto table = tables_->get({seed, epoch}, [&] { return build(epoch_seed); });
    const Bag& bag = *(std::ranges::upper_bound(table->bags, points[i].position, {}, &Bag::before) - 1);
    const std::uint64_t end = bag.before + records_of(bag.group);
    // Drawn without replacement: the beginning of a permutation of the group, keyed by its name.
    const Bijection draw(groups_->size_of(bag.group), hash_mix(epoch_seed, (*keys_)[groups_->number_of(bag.group)]));
    for (;
         i < points.size() && points[i].epoch == epoch && points[i].position >= bag.before && points[i].position < end;
         ++i)
      points[i].position = groups_->position(bag.group, draw(points[i].position - bag.before));
  }
}

}  // namespace penstock::detail
