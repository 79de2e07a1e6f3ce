#include <memory>
#include <utility>

#include <penstock/stages/cache.hpp>

#include "pipeline/add_cache.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail {

namespace {

class CacheStage final : public StageModel {
 public:
  CacheStage(std::shared_ptr<const CacheMaker> maker, CacheAllows allows) : maker_(std::move(maker)), allows_(allows) {}
  void join(PipelineBuilder& pipeline) const override {
    pipeline.refuse_after_batch(maker_->label());
    add_cache(pipeline.data(), *maker_, allows_);
  }

 private:
  const std::shared_ptr<const CacheMaker> maker_;
  const CacheAllows allows_;
};

}  // namespace

Stage make_cache(std::shared_ptr<const CacheMaker> maker, CacheAllows allows) {
  return make_stage(CacheStage(std::move(maker), allows));
}

}  // namespace detail

}  // namespace penstock
