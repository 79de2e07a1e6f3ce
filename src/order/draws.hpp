// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <penstock/detail/order_model.hpp>
#include <penstock/stages/draw.hpp>

namespace penstock::detail {

/// Draws records by weight. @throws Error(invalid_argument) as documented for the stage.
std::shared_ptr<const OrderModel> weighted_draws(WeightedOptions options);
/// Draws records of each class in proportion to its weight. @throws like `weighted_draws`.
std::shared_ptr<const OrderModel> balanced_draws(const BalancedOptions& options);

}  // namespace penstock::detail
