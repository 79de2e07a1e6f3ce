#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <penstock/detail/order_model.hpp>

#include "pipeline/stage_model.hpp"

namespace penstock::detail::runtime {

/// An order, whoever wrote it.
class OrderStage final : public StageModel {
 public:
  /// `seed`: the pipeline's, where it is said here. `per_record`: the order knows something of each record by its
  /// position, which must not change.
  OrderStage(std::shared_ptr<const OrderModel> model, std::optional<std::uint64_t> seed, bool per_record);
  void join(PipelineBuilder& pipeline) const override;

 private:
  std::shared_ptr<const OrderModel> model_;
  std::optional<std::uint64_t> seed_;
  bool per_record_;
};

}  // namespace penstock::detail::runtime
