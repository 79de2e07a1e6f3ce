// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <penstock/stages/order.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class SeedStage final : public StageModel {
 public:
  explicit SeedStage(std::uint64_t seed) : seed_(seed) {}
  void join(PipelineBuilder& pipeline) const override { pipeline.set_seed(seed_, "seed"); }

 private:
  const std::uint64_t seed_;
};

}  // namespace

}  // namespace detail::runtime

Stage seed(std::uint64_t value) { return detail::make_stage(detail::runtime::SeedStage(value)); }

}  // namespace penstock
