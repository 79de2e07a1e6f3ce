// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "chain/chain_run.hpp"
#include "chain/step.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail::runtime {

/// Changes the list of fields but no value.
class SelectStep : public Step {
 public:
  explicit SelectStep(const BoundStage& stage) : Step(stage.label, stage.key) { schema = stage.out; }

  bool run(ChainRun&, const StepCall&) const override { return true; }
  std::string describe(const CheckOptions&) const override { return label + ": " + schema.to_string(); }
  bool makes(const Schema&, std::size_t) const override { return false; }
};

}  // namespace penstock::detail::runtime
