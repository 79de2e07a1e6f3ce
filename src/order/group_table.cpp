// SPDX-License-Identifier: Apache-2.0
#include "order/group_table.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/hash.hpp"
#include "order/groups.hpp"

namespace penstock::detail {

// Reads the source without the lock, because its code may be a user's and may take long. So two threads may both make
// the table. The table that is made first is kept.
std::shared_ptr<const GroupTable> LazyGroupTable::of(const SourceModel& source, const std::string& stage) {
  {
    const std::lock_guard lock(mutex_);
    if (table_ != nullptr) return table_;
  }
  auto table = std::make_shared<const GroupTable>(source, stage);
  const std::lock_guard lock(mutex_);
  if (table_ == nullptr) table_ = std::move(table);
  return table_;
}

GroupTable::GroupTable(const SourceModel& source, const std::string& stage) {
  std::unordered_map<std::string, std::uint64_t> numbers;
  for_each_group(source, stage, [&](std::string_view name, std::uint64_t first, std::uint64_t records) {
    const auto [group, added] = numbers.try_emplace(std::string(name), names_.size());
    if (added) {
      names_.emplace_back(name);
      name_hashes_.push_back(hash_text(name));
    }
    if (!runs_.empty() && runs_.back().group == group->second)
      runs_.back().end = first + records;
    else
      runs_.push_back({first + records, group->second});
  });
}

std::uint64_t GroupTable::hash() const {
  return hash_bytes(runs_.data(), runs_.size() * sizeof(Run),
                    hash_bytes(name_hashes_.data(), name_hashes_.size() * sizeof(std::uint64_t)));
}

const GroupTable::Run& GroupTable::run_of(std::uint64_t record) const {
  return *std::ranges::upper_bound(runs_, record, {}, &Run::end);
}

}  // namespace penstock::detail
