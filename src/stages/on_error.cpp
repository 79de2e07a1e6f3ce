// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/on_error.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class ErrorPolicyStage final : public StageModel {
 public:
  explicit ErrorPolicyStage(ErrorPolicy policy) : policy_(std::move(policy)) {}
  void join(PipelineBuilder& pipeline) const override {
    if (pipeline.data().policy)
      throw Error(Errc::invalid_argument, "the pipeline already says what happens to bad samples")
          .with_stage("on_error");
    if (policy_.policy == OnError::replace && pipeline.data().source->is_stream())
      throw Error(Errc::invalid_argument,
                  "a stream's record can't be replaced, as no other can be read in its place; use mask or drop")
          .with_stage("on_error");
    pipeline.data().policy = policy_;
    pipeline.refuse_stand_ins_of_groups();
    if (pipeline.data().batch) pipeline.tell_orders_of_batches();
  }

 private:
  const ErrorPolicy policy_;
};

}  // namespace

}  // namespace detail::runtime

Stage on_error(ErrorPolicy policy) {
  if (!(policy.max_share >= 0.0 && policy.max_share <= 1.0))
    throw Error(Errc::invalid_argument, "`max_share` is a share from 0 to 1").with_stage("on_error");
  return detail::make_stage(detail::runtime::ErrorPolicyStage(policy));
}

}  // namespace penstock
