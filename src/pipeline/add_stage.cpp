// SPDX-License-Identifier: Apache-2.0
#include "pipeline/add_stage.hpp"

#include <string>

#include <penstock/error.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock::detail {

namespace {

// Checks that the ranks can share the pipeline's batches. `add_stage` calls this after each stage, because for_rank may
// be at any place in a pipeline.
void check_rank(const PipelineData& data) {
  const Rank rank = data.rank_value();
  if (rank.steps_per_epoch != 0 && data.source->is_stream())
    throw Error(Errc::unsupported,
                "a stream has no positions on which an epoch could go on, or that ranks could share; give each rank a "
                "stream of its own, leave for_rank away, and call next() equally often on all ranks")
        .with_stage("for_rank");
  if (rank.world == 1) return;
  const std::string ranks = std::to_string(rank.world) + " ranks";
  if (data.reordered() && rank.steps_per_epoch == 0)
    throw Error(Errc::unsupported,
                "batches of a filter, a flat_map, the policy `drop`, a stream, buckets or bounds by the sizes or "
                "groups of samples can't be shared by " +
                    ranks +
                    " as they are: how many there are is known only after the epoch, and ranks would not agree; say "
                    "how many there shall be, for_rank({.rank, .world, .steps_per_epoch}), or, of a stream, give each "
                    "rank one of its own without for_rank")
        .with_stage("for_rank");
  if (data.bounded)
    throw Error(Errc::unsupported,
                "batches that end by the sizes or groups of samples can't be shared by " + ranks +
                    ": none knows how many rows another has; give each rank records of its own (select), and this "
                    "pipeline without for_rank of several ranks")
        .with_stage("for_rank");
  if (data.batch && data.batch->rows < static_cast<std::uint64_t>(rank.world))
    throw Error(Errc::invalid_argument, "a batch of " + std::to_string(data.batch->rows) + " rows can't be shared by " +
                                            ranks +
                                            "; batch(n) is the batch of all ranks together: give it at least "
                                            "one row for each")
        .with_stage("for_rank");
}

}  // namespace

void add_stage(PipelineData& data, const Stage& stage) {
  PipelineBuilder builder(data, stage);
  stage.model().join(builder);
  check_rank(data);
}

}  // namespace penstock::detail
