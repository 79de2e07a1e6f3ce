// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/check.hpp>

#include "pipeline/nested_branches.hpp"
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
    if (pipeline.data().cache && looks_otherwise())
      throw Error(Errc::invalid_argument, "what " + pipeline.data().cache->label +
                                              " keeps was not looked at like that; put this stage before it")
          .with_stage("check");
    for_each_nested_branch(*pipeline.data().source, [&](const Branch& branch) { refuse_cache(branch); });
    pipeline.data().check = options_;
  }

 private:
  void refuse_cache(const Branch& branch) const {
    if (!branch.pipeline->cache || !looks_otherwise()) return;
    throw Error(Errc::invalid_argument, "what " + branch.pipeline->cache->label + " of " + branch.name +
                                            " keeps was not looked at like that; put the cache after the join")
        .with_stage("check");
  }
  bool looks_otherwise() const {
    const CheckOptions usual;
    return options_.verify != usual.verify || options_.max_sample_bytes != usual.max_sample_bytes;
  }

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
