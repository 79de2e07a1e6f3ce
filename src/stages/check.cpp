// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/check.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class CheckStage final : public StageModel {
 public:
  explicit CheckStage(CheckOptions options) : options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    if (pipeline.data().check)
      throw Error(Errc::invalid_argument, "the pipeline already has a check stage").with_stage("check");
    if (const CheckOptions usual; pipeline.data().cache && (options_.verify != usual.verify ||
                                                            options_.max_sample_bytes != usual.max_sample_bytes))
      throw Error(Errc::invalid_argument, "what " + pipeline.data().cache->label +
                                              " keeps was not looked at like that; put this stage before it")
          .with_stage("check");
    pipeline.data().check = options_;
  }

 private:
  const CheckOptions options_;
};

}  // namespace

}  // namespace detail::runtime

Stage check(CheckOptions options) {
  if (options.max_sample_bytes == 0)
    throw Error(Errc::invalid_argument, "`max_sample_bytes` must not be 0").with_stage("check");
  return detail::make_stage(detail::runtime::CheckStage(options));
}

}  // namespace penstock
