// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <penstock/error.hpp>
#include <penstock/rank.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class ForRankStage final : public StageModel {
 public:
  explicit ForRankStage(Rank rank) : rank_(rank) {}
  void join(PipelineBuilder& pipeline) const override {
    if (pipeline.data().rank)
      throw Error(Errc::invalid_argument, "the pipeline has for_rank already").with_stage("for_rank");
    pipeline.data().rank = rank_;
  }

 private:
  const Rank rank_;
};

}  // namespace

}  // namespace detail::runtime

Stage for_rank(Rank part) {
  if (part.world < 1 || part.rank < 0 || part.rank >= part.world)
    throw Error(Errc::invalid_argument, "there is no rank " + std::to_string(part.rank) + " in a world of " +
                                            std::to_string(part.world) + "; ranks go from 0 to `world` - 1")
        .with_stage("for_rank");
  if (part.steps_per_epoch >> 32 != 0)
    throw Error(Errc::invalid_argument, std::to_string(part.steps_per_epoch) +
                                            " batches an epoch are more than a state can count; it is 2^32 - 1 at most")
        .with_stage("for_rank");
  return detail::make_stage(detail::runtime::ForRankStage(part));
}

}  // namespace penstock
