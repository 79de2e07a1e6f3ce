// SPDX-License-Identifier: Apache-2.0
#include "order/splits.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "base/number_text.hpp"
#include "order/bijection.hpp"

namespace penstock::detail {

double share_before(const SplitOptions& options, std::uint64_t part) {
  if (part == 0) return 0;
  if (part >= options.shares.size()) return 1;
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < options.shares.size(); ++i) {
    total += options.shares[i];
    if (i < part) sum += options.shares[i];
  }
  return sum / total;
}

namespace {

std::string to_text(SplitOptions::By by) {
  return by == SplitOptions::By::key ? "key" : by == SplitOptions::By::group ? "group" : "index";
}

// Decides by a hash whether a text belongs to the named part. So the decision for a text does not depend on other
// texts.
class PartOfText {
 public:
  explicit PartOfText(const SplitOptions& options)
      : salt_(options.salt),
        first_(share_before(options, named_part(options))),
        last_(share_before(options, named_part(options) + 1)) {}
  bool has(std::string_view text) const noexcept {
    const double place = place_of(hash_text(text, salt_));
    return place >= first_ && place < last_;
  }

 private:
  std::uint64_t salt_;
  double first_, last_;
};

}  // namespace

void check_split(const SplitOptions& options) {
  double total = 0;
  for (const double share : options.shares) {
    if (!(share >= 0) || !std::isfinite(share))
      throw Error(Errc::invalid_argument, "shares are relative sizes, 0 or more").with_stage("split");
    total += share;
  }
  if (!(total > 0)) throw Error(Errc::invalid_argument, "at least one share must be above 0").with_stage("split");
  if (options.part && options.all_but)
    throw Error(Errc::invalid_argument, "`part` and `all_but` are both set; set the one that this pipeline needs")
        .with_stage("split");
  if (named_part(options) >= options.shares.size())
    throw Error(Errc::invalid_argument, "there is no part " + std::to_string(named_part(options)) +
                                            "; the parts are 0 to " + std::to_string(options.shares.size() - 1))
        .with_stage("split");
  if (!options.stratify.empty() && options.by == SplitOptions::By::key)
    throw Error(Errc::invalid_argument,
                "a split by key goes by hashes, so it can't give classes their shares (`stratify`); split by index, or "
                "by group")
        .with_stage("split");
}

std::string describe_split(const SplitOptions& options) {
  std::string out = kept_parts(options) + " of";
  for (const double share : options.shares) out += " " + shortest(share);
  out += ", by " + to_text(options.by);
  if (!options.stratify.empty()) out += ", each " + options.stratify + " alike";
  return out + ", salt " + std::to_string(options.salt);
}

double kept_share(const SplitOptions& options) {
  const std::uint64_t part = named_part(options);
  const double share = share_before(options, part + 1) - share_before(options, part);
  return keeps(options, true) ? share : 1 - share;
}

std::string kept_parts(const SplitOptions& options) {
  const std::string part = "part " + std::to_string(named_part(options));
  return (options.all_but ? "all but " : "") + part;
}

std::pair<std::uint64_t, std::uint64_t> split_range(const SplitOptions& options, std::uint64_t n) {
  const auto at = [n](double share) {
    return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(n)));
  };
  const std::uint64_t part = named_part(options), first = at(share_before(options, part));
  const std::uint64_t last = part + 1 == options.shares.size() ? n : at(share_before(options, part + 1));
  return {std::min(first, n), std::min(last, n)};
}

std::vector<std::uint64_t> stratified_members(const SplitOptions& options, std::span<const std::int64_t> labels) {
  // Sorts the records by class. Records of one class keep their order.
  std::map<std::int64_t, std::uint64_t> next;
  for (const std::int64_t label : labels) ++next[label];
  std::uint64_t end = 0;
  for (auto& [label, count] : next) end += std::exchange(count, end);
  std::vector<std::uint64_t> by_class(labels.size());
  for (std::uint64_t i = 0; i < labels.size(); ++i) by_class[next[labels[i]]++] = i;

  // The border between two parts may fall inside a record of a class. If a fraction f of that record is before the
  // border, the border is rounded up in about the share f of all classes, so that the errors cancel. The golden ratio
  // spreads these classes evenly, however many classes there are. All borders of a class use the same `up`, so that
  // parts meet.
  std::uint64_t rounding = hash_mix(options.salt, 0x73747261);
  const double first = share_before(options, named_part(options)),
               last = share_before(options, named_part(options) + 1);
  std::vector<std::uint64_t> members;
  std::uint64_t begin = 0;
  for (const auto& [label, class_end] : next) {
    const std::uint64_t count = class_end - begin;
    const double up = place_of(rounding += 0x9e3779b97f4a7c15);
    const auto at = [&](double share) {
      const double exact = share * static_cast<double>(count), whole = std::nearbyint(exact);
      if (std::abs(exact - whole) <= exact * 0x1p-40) return static_cast<std::uint64_t>(whole);
      return std::min(count, static_cast<std::uint64_t>(std::floor(exact + up)));
    };
    const Bijection order(count, hash_mix(hash_mix(options.salt, 0x73747261), static_cast<std::uint64_t>(label)));
    const auto keep = [&](std::uint64_t k, std::uint64_t after) {
      for (; k < after; ++k) members.push_back(by_class[begin + order(k)]);
    };
    if (keeps(options, true)) {
      keep(at(first), at(last));
    } else {
      keep(0, at(first));
      keep(at(last), count);
    }
    begin = class_end;
  }
  std::ranges::sort(members);
  return members;
}

std::vector<std::uint64_t> split_members(const SplitOptions& options, const SourceModel& source) {
  if (!source.has_keys())
    throw Error(Errc::invalid_argument, "the source has no keys; split by index instead")
        .with_stage("split")
        .with_source(source.name());
  const PartOfText part(options);
  std::vector<std::uint64_t> members;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    std::string key;
    try {
      key = source.key(i);
    } catch (...) {
      throw current_error().with_stage("split").with_source(source.name()).with_index(i);
    }
    if (keeps(options, part.has(key))) members.push_back(i);
  }
  return members;
}

KeptGroups split_groups(const SplitOptions& options, const SourceModel& source, const GroupTable& table) {
  const PartOfText part(options);
  KeptGroups found;
  std::vector<bool> kept;
  for (std::uint64_t group = 0; group < table.groups(); ++group) {
    kept.push_back(keeps(options, part.has(table.name(group))));
    found.groups += kept.back() ? 1 : 0;
  }
  std::uint64_t first = 0;
  for (const auto& [end, group] : table.runs()) {
    if (kept[group]) found.records.add(first, end - first);
    first = end;
  }
  found.of = table.groups();
  if (found.groups == 0 && found.of != 0 && kept_share(options) > 0)
    throw Error(Errc::invalid_argument, "of " + std::to_string(found.of) + " groups none fell into " +
                                            kept_parts(options) +
                                            ", as a hash of their names decides; another `salt` makes another split")
        .with_stage("split")
        .with_source(source.name());
  return found;
}

}  // namespace penstock::detail
