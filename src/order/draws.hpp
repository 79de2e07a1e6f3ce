#pragma once

#include <memory>

#include <penstock/detail/order_model.hpp>
#include <penstock/stages/draw.hpp>

namespace penstock::detail {

/// Records drawn by weight. @throws Error(invalid_argument) as the stage says.
std::shared_ptr<const OrderModel> weighted_draws(WeightedOptions options);
/// Draws as many records of each class as its weight says. @throws as `weighted_draws`.
std::shared_ptr<const OrderModel> balanced_draws(const BalancedOptions& options);

}  // namespace penstock::detail
