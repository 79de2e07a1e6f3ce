// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/draw.hpp>

#include "order/draws.hpp"
#include "pipeline/pipeline_builder.hpp"
#include "stages/order_stage.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

// Balances classes that are in a field of the source.
class BalancedByFieldStage final : public StageModel {
 public:
  BalancedByFieldStage(std::string field, BalancedOptions options)
      : field_(std::move(field)), options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    BalancedOptions options = options_;
    options.labels = pipeline.labels_of_positions(field_, "draw_balanced");
    if (options.labels.empty())
      throw Error(Errc::invalid_argument, "no record is left here, so none can be drawn").with_stage("draw_balanced");
    draw_balanced(options).model().join(pipeline);
  }

 private:
  const std::string field_;
  const BalancedOptions options_;
};

}  // namespace

}  // namespace detail::runtime

Stage draw_weighted(WeightedOptions options) {
  const std::optional<std::uint64_t> seed = options.seed;
  return detail::make_stage(detail::runtime::OrderStage(detail::weighted_draws(std::move(options)), seed, true));
}

Stage draw_balanced(const BalancedOptions& options) {
  return detail::make_stage(detail::runtime::OrderStage(detail::balanced_draws(options), options.seed, true));
}

Stage detail::draw_balanced_by(std::string field, BalancedOptions options) {
  if (!options.labels.empty())
    throw Error(Errc::invalid_argument, "the field \"" + field + "\" gives the labels; leave `.labels` away")
        .with_stage("draw_balanced");
  return detail::make_stage(detail::runtime::BalancedByFieldStage(std::move(field), std::move(options)));
}

}  // namespace penstock
