// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <penstock/detail/source_model.hpp>
#include <penstock/extend/any_source.hpp>

namespace penstock::detail {

/// A part of a join that has stages.
struct Branch {
  std::uint64_t key = 0;  ///< each branch of a join has another one; readers and draws use it
  std::string name;       ///< such as "part 1 of part 0"
  std::shared_ptr<const PipelineData> pipeline;
};

/// Returns the key of a part of the join whose own key is `branch`.
std::uint64_t branch_of_part(std::uint64_t branch, std::size_t part) noexcept;

/// Calls `visit` for each branch of the source, in the order of the parts. Does not visit the branches inside a branch.
/// `within`: name of the branch that has the source, if any.
void for_each_branch(const SourceModel& source, const std::string& within,
                     const std::function<void(const Branch&)>& visit);

/// Counts the branches of a join, and whether any of them draws.
class BranchCount {
 public:
  /// @throws Error(limit_exceeded) of the stage `kind` if there are too many branches.
  void add(const SourceModel& part, const std::string& kind);
  std::uint64_t branches() const noexcept { return branches_; }
  bool draws() const noexcept { return draws_; }

 private:
  std::uint64_t branches_ = 0;
  bool draws_ = false;
};

}  // namespace penstock::detail
