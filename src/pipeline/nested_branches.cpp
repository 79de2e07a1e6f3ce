// SPDX-License-Identifier: Apache-2.0
#include "pipeline/nested_branches.hpp"

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

void for_each_nested_branch(const SourceModel& source, const std::function<void(const Branch&)>& visit,
                            const std::string& within) {
  for_each_branch(source, within, [&](const Branch& branch) {
    visit(branch);
    for_each_nested_branch(*branch.pipeline->source, visit, branch.name);
  });
}

}  // namespace penstock::detail
