// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <penstock/detail/order_model.hpp>

#include "pipeline/stage_model.hpp"

namespace penstock::detail::runtime {

/// The stage that sets a built-in or a custom order.
class OrderStage final : public StageModel {
 public:
  /// `seed`: the pipeline's seed, if this stage sets it. `per_record`: the order depends on which record is at each
  /// position, so no earlier order may change this from epoch to epoch.
  OrderStage(std::shared_ptr<const OrderModel> model, std::optional<std::uint64_t> seed, bool per_record);
  void join(PipelineBuilder& pipeline) const override;

 private:
  std::shared_ptr<const OrderModel> model_;
  std::optional<std::uint64_t> seed_;
  bool per_record_;
};

}  // namespace penstock::detail::runtime
