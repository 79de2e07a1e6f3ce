// SPDX-License-Identifier: Apache-2.0
#include "order/groups.hpp"

#include <algorithm>
#include <utility>

#include <penstock/error.hpp>

#include "base/failure.hpp"

namespace penstock::detail {

namespace {

Error refused(const SourceModel& source, const std::string& stage, std::string cause) {
  return Error(Errc::invalid_argument, std::move(cause)).with_stage(stage).with_source(source.name());
}

}  // namespace

std::vector<Group> known_groups(const SourceModel& source, const std::string& stage) {
  std::vector<Group> groups;
  try {
    groups = source.groups();
  } catch (...) {
    throw current_error().with_stage(stage).with_source(source.name());
  }
  if (!std::ranges::is_sorted(groups, {}, &Group::end) || (!groups.empty() && groups.back().end != source.size()))
    throw refused(source, stage, "the ends of its `groups` must ascend to its size, " + std::to_string(source.size()));
  return groups;
}

void for_each_group(
    const SourceModel& source, const std::string& stage,
    const std::function<void(std::string_view name, std::uint64_t first, std::uint64_t records)>& give) {
  const std::uint64_t size = source.size();
  std::uint64_t first = 0;
  if (const std::vector<Group> groups = known_groups(source, stage); !groups.empty()) {
    for (const Group& group : groups) {
      if (group.end != first) give(group.name, first, group.end - first);
      first = group.end;
    }
    return;
  }
  if (size != 0 && !source.has_keys())
    throw refused(source, stage, "the source knows of no groups, and has no keys that would tell them");
  std::string name;  // name of the run from `first` on
  for (std::uint64_t i = 0; i < size; ++i) {
    std::string key;
    try {
      key = source.key(i);
    } catch (...) {
      throw current_error().with_stage(stage).with_source(source.name()).with_index(i);
    }
    const std::size_t slash = key.rfind('/');
    if (slash == std::string::npos)
      throw refused(source, stage,
                    "the source knows of no groups, and this key has no '/' before which one would stand; a key like "
                    "\"patient-17/3\" tells that the record is patient-17's")
          .with_key(key)
          .with_index(i);
    const std::string_view group(key.data(), slash);
    if (i != first && group == name) continue;
    if (i != first) give(name, first, i - first);
    name = group;
    first = i;
  }
  if (first != size) give(name, first, size - first);
}

std::vector<Group> groups_of(const SourceModel& source, const std::string& stage) {
  std::vector<Group> groups;
  for_each_group(source, stage, [&](std::string_view name, std::uint64_t first, std::uint64_t records) {
    groups.push_back({std::string(name), first + records});
  });
  return groups;
}

const std::string& GroupNameLookup::name_of(std::uint64_t record) {
  const std::uint64_t before = last_ == 0 ? 0 : (*groups_)[last_ - 1].end;
  if (record < before || record >= (*groups_)[last_].end)
    last_ = static_cast<std::size_t>(std::ranges::upper_bound(*groups_, record, {}, &Group::end) - groups_->begin());
  return (*groups_)[last_].name;
}

void append_group(std::vector<Group>& groups, const std::string& name, std::uint64_t end) {
  if (!groups.empty() && groups.back().name == name)
    groups.back().end = end;
  else
    groups.push_back({name, end});
}

}  // namespace penstock::detail
