#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/shard.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail {

namespace {

class ShardStage final : public StageModel {
 public:
  explicit ShardStage(Shard shard) : shard_(std::move(shard)) {}
  void join(PipelineBuilder& pipeline) const override {
    if (pipeline.data().shard)
      throw Error(Errc::invalid_argument, "the pipeline has a shard already").with_stage("shard");
    pipeline.data().shard = shard_;
  }

 private:
  const Shard shard_;
};

}  // namespace

}  // namespace detail

Stage shard(Shard part) {
  if (part.world < 1 || part.rank < 0 || part.rank >= part.world)
    throw Error(Errc::invalid_argument, "there is no rank " + std::to_string(part.rank) + " in a world of " +
                                            std::to_string(part.world) + "; ranks go from 0 to `world` - 1")
        .with_stage("shard");
  if (part.steps_per_epoch >> 32 != 0)
    throw Error(Errc::invalid_argument, std::to_string(part.steps_per_epoch) +
                                            " batches an epoch are more than a state can count; it is 2^32 - 1 at most")
        .with_stage("shard");
  return detail::make_stage(detail::ShardStage(part));
}

}  // namespace penstock
