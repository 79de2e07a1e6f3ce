// SPDX-License-Identifier: Apache-2.0
#include "order/stratified_groups.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <penstock/error.hpp>

#include "base/hash.hpp"
#include "base/number_text.hpp"
#include "order/splits.hpp"

namespace penstock::detail {

namespace {

struct GroupRun {
  std::uint64_t first, records, group;
};

// How many of a group's records have one value.
struct ValueCount {
  std::uint64_t group;
  std::int64_t value;  // a value; after `number_values`, its index in `CountedGroups::values`
  std::uint64_t records;
};

struct CountedGroups {
  std::vector<GroupRun> runs;
  std::vector<std::uint64_t> hashes;     // hashes of the groups' names, with the salt
  std::vector<ValueCount> counts;        // sorted by group, then by value
  std::vector<std::int64_t> values;      // all values that occur, ascending
  std::vector<std::uint64_t> of_value;   // number of records with each value, in all groups
  std::vector<std::size_t> first_count;  // where each group's counts begin in `counts`; and, last, the end of `counts`
  std::vector<std::uint64_t> records;    // number of records of each group

  std::span<const ValueCount> counts_of(std::size_t group) const {
    return std::span(counts).subspan(first_count[group], first_count[group + 1] - first_count[group]);
  }
};

void add_counts(std::vector<ValueCount>& counts, std::uint64_t group, std::vector<std::int64_t>& labels) {
  std::ranges::sort(labels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i == 0 || labels[i] != labels[i - 1]) counts.push_back({group, labels[i], 0});
    ++counts.back().records;
  }
}

// Merges the counts of the same group and value. There are several if the group has several runs.
void merge_counts(std::vector<ValueCount>& counts) {
  const auto place = [](const ValueCount& count) { return std::tuple(count.group, count.value); };
  std::ranges::sort(counts, {}, place);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (kept != 0 && place(counts[kept - 1]) == place(counts[i]))
      counts[kept - 1].records += counts[i].records;
    else
      counts[kept++] = counts[i];
  }
  counts.resize(kept);
}

void number_values(CountedGroups& groups) {
  for (const ValueCount& count : groups.counts) groups.values.push_back(count.value);
  std::ranges::sort(groups.values);
  groups.values.erase(std::unique(groups.values.begin(), groups.values.end()), groups.values.end());
  groups.of_value.resize(groups.values.size());
  for (ValueCount& count : groups.counts) {
    count.value = std::ranges::lower_bound(groups.values, count.value) - groups.values.begin();
    groups.of_value[static_cast<std::size_t>(count.value)] += count.records;
  }
}

// Numbers the groups by size, the largest first, because `move_each` visits them in this order. Groups of the same size
// are sorted by hash.
void number_by_size(CountedGroups& groups) {
  groups.records.resize(groups.hashes.size());
  for (const ValueCount& count : groups.counts) groups.records[count.group] += count.records;
  std::vector<std::uint64_t> by_size(groups.hashes.size()), numbers(by_size.size()), hashes, records;
  std::iota(by_size.begin(), by_size.end(), std::uint64_t{0});
  std::ranges::sort(by_size, {},
                    [&](std::uint64_t group) { return std::tuple(~groups.records[group], groups.hashes[group]); });
  for (const std::uint64_t group : by_size) {
    numbers[group] = hashes.size();
    hashes.push_back(groups.hashes[group]);
    records.push_back(groups.records[group]);
  }
  groups.hashes = std::move(hashes);
  groups.records = std::move(records);
  for (GroupRun& run : groups.runs) run.group = numbers[run.group];
  for (ValueCount& count : groups.counts) count.group = numbers[count.group];
  std::ranges::sort(groups.counts, {}, [](const ValueCount& count) { return std::tuple(count.group, count.value); });
}

CountedGroups count_groups(const SplitOptions& options, const GroupTable& table, std::span<const std::int64_t> labels) {
  CountedGroups groups;
  for (std::uint64_t group = 0; group < table.groups(); ++group)
    groups.hashes.push_back(hash_text(table.name(group), options.salt));
  std::vector<std::int64_t> of_run;
  std::uint64_t first = 0;
  for (const auto& [end, group] : table.runs()) {
    groups.runs.push_back({first, end - first, group});
    const auto these = labels.subspan(first, end - first);
    of_run.assign(these.begin(), these.end());
    add_counts(groups.counts, group, of_run);
    first = end;
  }
  merge_counts(groups.counts);
  number_values(groups);
  number_by_size(groups);
  groups.first_count.resize(groups.hashes.size() + 1);
  for (const ValueCount& count : groups.counts) ++groups.first_count[count.group + 1];
  std::partial_sum(groups.first_count.begin(), groups.first_count.end(), groups.first_count.begin());
  return groups;
}

// The part that each group is in.
using PartOfGroup = std::vector<std::uint32_t>;

class PartsNearShares {
 public:
  PartsNearShares(const SplitOptions& options, const CountedGroups& groups)
      : groups_(groups), values_(groups.values.size()) {
    for (std::size_t part = 0; part < options.shares.size(); ++part) {
      shares_.push_back(share_before(options, part + 1) - share_before(options, part));
      ends_.push_back(share_before(options, part + 1));
    }
  }

  // Makes several splits if there are few groups, because a single split may end far from the shares. Returns the split
  // with the least distance.
  PartOfGroup find() {
    constexpr std::size_t most_tries = 64, groups_of_all_tries = 1u << 17;
    const std::size_t tries =
        std::clamp<std::size_t>(groups_of_all_tries / std::max<std::size_t>(groups_.hashes.size(), 1), 1, most_tries);
    PartOfGroup nearest;
    double least = 0;
    for (std::size_t attempt = 0; attempt < tries; ++attempt) {
      begin(attempt);
      while (move_each()) {
      }
      const double now = distance();
      if (attempt != 0 && now >= least) continue;
      nearest = parts_;
      least = now;
    }
    return nearest;
  }

 private:
  double& held(std::size_t part, std::int64_t value) { return held_[part * values_ + static_cast<std::size_t>(value)]; }
  double all_of(std::int64_t value) const {
    return static_cast<double>(groups_.of_value[static_cast<std::size_t>(value)]);
  }

  // Puts each group into a part by a hash. The first attempt uses the hash that decides in a split without `stratify`.
  void begin(std::size_t attempt) {
    parts_.assign(groups_.hashes.size(), 0);
    held_.assign(shares_.size() * values_, 0);
    for (std::size_t group = 0; group < parts_.size(); ++group) {
      const std::uint64_t hash = groups_.hashes[group];
      const double place = place_of(attempt == 0 ? hash : hash_mix(hash, attempt));
      parts_[group] = static_cast<std::uint32_t>(std::ranges::upper_bound(ends_, place) - ends_.begin());
      add(group, parts_[group], 1);
    }
  }

  void add(std::size_t group, std::size_t part, double times) {
    for (const ValueCount& count : groups_.counts_of(group))
      held(part, count.value) += times * static_cast<double>(count.records);
  }

  // Returns half of what moving the group from one part to another would add to `distance()`.
  double change(std::size_t group, std::size_t from, std::size_t to) {
    double sum = 0;
    for (const ValueCount& count : groups_.counts_of(group)) {
      const auto records = static_cast<double>(count.records);
      sum += records * (held(to, count.value) - held(from, count.value) + records) / all_of(count.value);
    }
    return sum - static_cast<double>(groups_.records[group]) * (shares_[to] - shares_[from]);
  }

  // Moves each group to the part where it reduces the distance most. Visits large groups first, so that small groups
  // can even out what large groups leave. A part with share 0 is never the best choice: a group leaves only a part that
  // has too much of its values, and then another part has too little of them. Returns whether a group was moved.
  bool move_each() {
    // A move must gain more than this per record. Rounding errors of the sums are smaller, so each move really reduces
    // the distance, and the moves end.
    constexpr double least_gain = 1e-9;
    bool moved = false;
    for (std::size_t group = 0; group < parts_.size(); ++group) {
      const std::size_t from = parts_[group];
      std::size_t to = from;
      double best = -least_gain * static_cast<double>(groups_.records[group]);
      for (std::size_t part = 0; part < shares_.size(); ++part) {
        if (part == from) continue;
        if (const double now = change(group, from, part); now < best) {
          best = now;
          to = part;
        }
      }
      if (to == from) continue;
      add(group, from, -1);
      add(group, to, 1);
      parts_[group] = static_cast<std::uint32_t>(to);
      moved = true;
    }
    return moved;
  }

  double distance() {
    double sum = 0;
    for (std::size_t part = 0; part < shares_.size(); ++part)
      for (std::size_t v = 0; v < values_; ++v) {
        const auto value = static_cast<std::int64_t>(v);
        const double off = held(part, value) - shares_[part] * all_of(value);
        sum += off * off / all_of(value);
      }
    return sum;
  }

  const CountedGroups& groups_;
  const std::size_t values_;
  std::vector<double> shares_, ends_;
  PartOfGroup parts_;
  std::vector<double> held_;  // number of records with each value in each part
};

// Describes the value whose number of kept records is farthest from the value's share.
std::string farthest(const SplitOptions& options, const CountedGroups& groups, const std::vector<std::uint64_t>& kept) {
  const double share = kept_share(options);
  double most = 0;
  std::size_t which = 0;
  for (std::size_t v = 0; v < kept.size(); ++v) {
    const double off = std::abs(static_cast<double>(kept[v]) - share * static_cast<double>(groups.of_value[v]));
    if (off > most) {
      most = off;
      which = v;
    }
  }
  if (most < 1) return "each " + options.stratify + " has its share";
  return "farthest from its share is " + options.stratify + " " + std::to_string(groups.values[which]) + " with " +
         std::to_string(kept[which]) + " of " + std::to_string(groups.of_value[which]);
}

}  // namespace

StratifiedGroups stratified_groups(const SplitOptions& options, const SourceModel& source, const GroupTable& table,
                                   std::span<const std::int64_t> labels) {
  const CountedGroups groups = count_groups(options, table, labels);
  const PartOfGroup parts = PartsNearShares(options, groups).find();
  const auto kept = [&](std::uint64_t group) { return keeps(options, parts[group] == named_part(options)); };
  std::uint64_t kept_groups = 0;
  for (std::uint64_t group = 0; group < parts.size(); ++group) kept_groups += kept(group) ? 1 : 0;
  if (kept_groups == 0 && !parts.empty() && kept_share(options) > 0)
    throw Error(Errc::invalid_argument, "of " + std::to_string(parts.size()) + " groups " + kept_parts(options) +
                                            " gets none, as its share is less than one of them; give it a larger one")
        .with_stage("split")
        .with_source(source.name());
  StratifiedGroups found;
  for (const GroupRun& run : groups.runs)
    if (kept(run.group)) found.records.add(run.first, run.records);
  std::vector<std::uint64_t> of_value(groups.values.size());
  for (const ValueCount& count : groups.counts)
    if (kept(count.group)) of_value[static_cast<std::size_t>(count.value)] += count.records;
  found.said = std::to_string(kept_groups) + " of " + std::to_string(parts.size()) + " groups, " +
               std::to_string(found.records.records()) + " of " + std::to_string(labels.size()) + " records; " +
               farthest(options, groups, of_value);
  return found;
}

}  // namespace penstock::detail
