// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>

#include <penstock/detail/order_model.hpp>
#include <penstock/extend/order.hpp>

#include "pipeline/pipeline_builder.hpp"
#include "stages/order_stage.hpp"

namespace penstock {

namespace detail::runtime {

OrderStage::OrderStage(std::shared_ptr<const OrderModel> model, std::optional<std::uint64_t> seed, bool per_record)
    : model_(std::move(model)), seed_(seed), per_record_(per_record) {}

void OrderStage::join(PipelineBuilder& pipeline) const {
  if (per_record_) pipeline.refuse_changing_orders(model_->name());
  if (seed_) pipeline.set_seed(*seed_, model_->name());
  pipeline.add_order(model_);
}

}  // namespace detail::runtime

Stage detail::make_order(std::shared_ptr<const OrderModel> model, std::optional<std::uint64_t> seed) {
  return make_stage(runtime::OrderStage(std::move(model), seed, false));
}

}  // namespace penstock
