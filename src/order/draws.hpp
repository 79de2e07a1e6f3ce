// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <penstock/detail/order_model.hpp>
#include <penstock/stages/draw.hpp>

namespace penstock::detail {

/// Returns an order that draws records by weight. @throws Error(invalid_argument) as documented for the stage
/// `draw_weighted`.
std::shared_ptr<const OrderModel> weighted_draws(WeightedOptions options);
/// Returns an order that draws records of each class in proportion to the class's weight. @throws
/// Error(invalid_argument) as documented for the stage `draw_balanced`.
std::shared_ptr<const OrderModel> balanced_draws(const BalancedOptions& options);

}  // namespace penstock::detail
