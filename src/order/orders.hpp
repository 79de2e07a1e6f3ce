// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/detail/order_model.hpp>
#include <penstock/stages/order.hpp>

namespace penstock::detail {

/// Returns an order that visits these positions, which must ascend.
std::shared_ptr<const OrderModel> select_order(std::vector<std::uint64_t> positions);
/// Returns an order that visits one part of a split by index. REQUIRES: `check_split` accepted the options.
std::shared_ptr<const OrderModel> split_order(SplitOptions options);
/// Returns an order that visits all records in a new permutation in each epoch.
std::shared_ptr<const OrderModel> shuffle_order();

}  // namespace penstock::detail
