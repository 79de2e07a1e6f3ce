// SPDX-License-Identifier: Apache-2.0
#include "join/branches.hpp"

#include <penstock/error.hpp>

#include "base/hash.hpp"

namespace penstock::detail {

namespace {

void visit_branches(const SourceModel& source, std::uint64_t key, const std::string& name, const std::string& within,
                    const std::function<void(const Branch&)>& visit) {
  if (source.branches() == 0) return;
  const std::string inside = within.empty() ? "" : " of " + within;
  if (auto pipeline = source.pipeline()) {
    visit({key, name.empty() ? "the part" + inside : name, std::move(pipeline)});
    return;
  }
  source.for_each_part([&](std::size_t part, const SourceModel& model) {
    visit_branches(model, branch_of_part(key, part),
                   "part " + std::to_string(part) + (name.empty() ? inside : " of " + name), within, visit);
  });
}

}  // namespace

std::uint64_t branch_of_part(std::uint64_t branch, std::size_t part) noexcept { return hash_mix(branch, part + 1); }

void for_each_branch(const SourceModel& source, const std::string& within,
                     const std::function<void(const Branch&)>& visit) {
  visit_branches(source, 0, "", within, visit);
}

void BranchCount::add(const SourceModel& part, const std::string& kind) {
  constexpr std::uint64_t most = 10'000;
  branches_ += part.branches();
  if (branches_ > most)
    throw Error(Errc::limit_exceeded, "the join has more than " + std::to_string(most) +
                                          " parts with stages; put stages that all parts have after the join")
        .with_stage(kind);
  if (part.branches() != 0 && part.draws()) draws_ = true;
}

}  // namespace penstock::detail
