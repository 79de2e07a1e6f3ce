// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/detail/order_model.hpp>
#include <penstock/stages/order.hpp>

namespace penstock::detail {

/// Returns an order that visits these positions.
std::shared_ptr<const OrderModel> select_order(std::vector<std::uint64_t> positions);
/// Returns a part of a fixed permutation. Checks the options.
std::shared_ptr<const OrderModel> split_order(SplitOptions options);
/// Returns a new permutation of all records in each epoch.
std::shared_ptr<const OrderModel> shuffle_order();

}  // namespace penstock::detail
