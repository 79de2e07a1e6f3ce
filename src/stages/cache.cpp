// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/cache.hpp>

#include "pipeline/add_cache.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class CacheStage final : public StageModel {
 public:
  CacheStage(std::shared_ptr<const CacheMaker> maker, CacheAllows allows) : maker_(std::move(maker)), allows_(allows) {}
  void join(PipelineBuilder& pipeline) const override {
    pipeline.refuse_after_batch(maker_->label());
    add_cache(pipeline.data(), maker_, allows_);
  }

 private:
  const std::shared_ptr<const CacheMaker> maker_;
  const CacheAllows allows_;
};

}  // namespace

}  // namespace detail::runtime

Stage cache(std::shared_ptr<const CacheMaker> maker, CacheAllows allows) {
  if (maker == nullptr) throw Error(Errc::invalid_argument, "there is no maker of the cache").with_stage("cache");
  return detail::make_stage(detail::runtime::CacheStage(std::move(maker), allows));
}

}  // namespace penstock
