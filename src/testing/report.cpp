// SPDX-License-Identifier: Apache-2.0
#include <penstock/testing/report.hpp>

#include <utility>

#include "findings.hpp"

namespace penstock::testing {

namespace {
constexpr std::size_t max_of_a_contract = 3;
}

std::string Report::text() const {
  std::string text;
  for (const Finding& finding : findings_) text += finding.contract + ": " + finding.evidence + "\n";
  if (checks_ == 0 && findings_.empty()) text = "nothing was checked\n";
  return text;
}

void Findings::add(std::string_view contract, std::string evidence) {
  const std::lock_guard lock(mutex_);
  ++checks_;
  auto found = broken_.find(contract);
  if (found == broken_.end()) {
    order_.emplace_back(contract);
    found = broken_.emplace(contract, OfContract{}).first;
  }
  OfContract& of = found->second;
  ++of.count;
  if (of.evidence.size() < max_of_a_contract) of.evidence.push_back(std::move(evidence));
}

Report Findings::report() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> findings;
  for (const std::string& contract : order_) {
    const OfContract& of = broken_.find(contract)->second;
    for (const std::string& evidence : of.evidence) findings.push_back({contract, evidence});
    if (of.count > of.evidence.size())
      findings.back().evidence += " (and " + std::to_string(of.count - of.evidence.size()) + " more)";
  }
  return {std::move(findings), checks_};
}

}  // namespace penstock::testing
