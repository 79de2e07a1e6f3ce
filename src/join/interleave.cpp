// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/join.hpp>

#include "base/hash.hpp"
#include "join/parts.hpp"
#include "order/groups.hpp"

namespace penstock {

namespace {

class Interleaving final : public detail::Parts {
 public:
  Interleaving(const std::vector<AnySource>& sources, InterleaveOptions options)
      : Parts("interleave", sources, options.classes), block_(options.block) {
    for (std::uint64_t i = 0; i < parts(); ++i) by_size_.push_back(part_size(i));
    std::ranges::sort(by_size_);
    std::uint64_t sum = 0;
    for (const std::uint64_t size : by_size_) sums_.push_back(sum += size);
    // Limits `block_` to the length of the longest part, so that `rounds * block_` can't overflow. Any larger value
    // gives the same order.
    block_ = std::min(block_, std::max<std::uint64_t>(by_size_.back(), 1));
  }

  detail::PartRecord locate(std::uint64_t index) const override {
    // Finds the round of the record: the last round such that all rounds before it together have at most `index`
    // records.
    std::uint64_t round = 0, beyond = by_size_.back() / block_ + 1;
    while (beyond - round > 1) {
      const std::uint64_t middle = round + (beyond - round) / 2;
      (given(middle) <= index ? round : beyond) = middle;
    }
    const std::uint64_t first = round * block_;
    std::uint64_t left = index - given(round);
    for (std::uint64_t i = 0;; ++i) {
      const std::uint64_t here = part_size(i) <= first ? 0 : std::min(block_, part_size(i) - first);
      if (left < here) return {i, first + left};
      left -= here;
    }
  }
  std::uint64_t identity() const override {
    return detail::hash_mix(detail::hash_text("interleave", identity_of_parts()), block_);
  }
  std::vector<Group> groups() const override {
    std::vector<Group> all;
    const std::vector<std::vector<Group>> own = groups_of_parts("interleave");
    if (own.empty()) return all;
    std::vector<detail::GroupNameLookup> whose;
    for (const std::vector<Group>& groups : own) whose.emplace_back(groups);
    for (std::uint64_t i = 0; i < size(); ++i) {
      const detail::PartRecord record = locate(i);
      detail::append_group(all, whose[record.part].name_of(record.index), i + 1);
    }
    return all;
  }

 private:
  // Returns the number of records in the first `rounds` rounds.
  std::uint64_t given(std::uint64_t rounds) const {
    const std::uint64_t each = rounds * block_;
    const auto over = static_cast<std::size_t>(std::ranges::upper_bound(by_size_, each) - by_size_.begin());
    return (over == 0 ? 0 : sums_[over - 1]) + (by_size_.size() - over) * each;
  }

  std::uint64_t block_;
  std::vector<std::uint64_t> by_size_, sums_;
};

}  // namespace

AnySource interleave(const std::vector<AnySource>& parts, InterleaveOptions options) {
  if (options.block == 0) throw Error(Errc::invalid_argument, "`.block` is at least 1").with_stage("interleave");
  return AnySource(std::shared_ptr<const detail::SourceModel>(std::make_shared<Interleaving>(parts, options)));
}

}  // namespace penstock
