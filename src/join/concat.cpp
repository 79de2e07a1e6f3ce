// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <penstock/join.hpp>

#include "base/hash.hpp"
#include "join/parts.hpp"
#include "order/groups.hpp"

namespace penstock {

namespace {

class Concatenation final : public detail::Parts {
 public:
  Concatenation(const std::vector<AnySource>& sources, ClassMatching joined) : Parts("concat", sources, joined) {
    std::uint64_t end = 0;
    for (std::uint64_t i = 0; i < parts(); ++i) ends_.push_back(end += part_size(i));
  }
  detail::PartRecord locate(std::uint64_t index) const override {
    const auto part = static_cast<std::uint64_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
    return {part, index - (part == 0 ? 0 : ends_[part - 1])};
  }
  std::uint64_t identity() const override { return detail::hash_text("concat", identity_of_parts()); }
  std::vector<std::uint64_t> block_ends() const override {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < parts(); ++i) {
      const std::vector<std::uint64_t> own = part(i).block_ends();
      if (own.empty() && part_size(i) != 0) return {};
      for (const std::uint64_t end : own) all.push_back(end + (i == 0 ? 0 : ends_[i - 1]));
    }
    return all;
  }
  std::optional<BlockRows> rows_of(std::uint64_t block) const override {
    const detail::PartRecord own = locate_block(block);
    std::optional<BlockRows> rows = part(own.part).block_model()->rows_of(own.index);
    if (rows && own.part != 0) rows->first += ends_[own.part - 1];
    return rows;
  }
  std::vector<Group> groups() const override {
    std::vector<Group> all;
    const std::vector<std::vector<Group>> of_parts = groups_of_parts("concat");
    for (std::uint64_t i = 0; i < of_parts.size(); ++i)
      for (const Group& group : of_parts[i])
        detail::append_group(all, group.name, group.end + (i == 0 ? 0 : ends_[i - 1]));
    return all;
  }

 private:
  std::vector<std::uint64_t> ends_;
};

}  // namespace

AnySource concat(const std::vector<AnySource>& parts, ConcatOptions options) {
  return AnySource(std::shared_ptr<const detail::SourceModel>(std::make_shared<Concatenation>(parts, options.classes)));
}

}  // namespace penstock
