// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <penstock/detail/mistakes.hpp>
#include <penstock/detail/order_model.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// A position in an epoch. Orders turn positions of their result into positions of their input.
struct OrderPoint {
  /// Number of the epoch, from 0.
  std::uint64_t epoch = 0;
  /// Position in the epoch, from 0.
  std::uint64_t position = 0;
  friend bool operator==(const OrderPoint&, const OrderPoint&) = default;
};

/// A stage that changes which records are read, and in what order. An order is a pure function, so it has no state to
/// save. A resume needs only a position, and a rank's share is a slice of positions. An order has
///
///     std::uint64_t size(std::uint64_t n) const;
///         Length of the result for an input of length n.
///     void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const;
///         Each point holds a position in the result, below size(n). Replaces this position by the position in the
///         input, below n, from which the order takes the record.
///     std::string name() const;
///     std::string describe() const;
///
/// and may have
///
///     bool fixed() const;
///         Whether the order is the same in all epochs. Default: false. If true, stages that know records by their
///         positions (draws by weight, shuffles of blocks) may follow.
///     std::uint64_t run_length(std::uint64_t n, std::uint64_t position) const;
///         Returns a number, at least 1. In every epoch, that many positions of the result, from `position` on, come
///         from consecutive positions of the input. A large number saves time where the library goes through all
///         positions. Default: 1.
///     O for_batches(std::uint64_t rows) const;
///         Returns this order, changed for batches of `rows` rows. Called when `batch` joins the pipeline. `rows` is 0
///         if the number of rows is not known beforehand. Default: the order stays as it is.
///
/// Any thread may call `fill` at any time. `seed` is the pipeline's seed mixed with this stage's key.
template <class O>
concept Order = requires(const O& order, std::uint64_t n, std::span<OrderPoint> points) {
  { order.size(n) } -> std::convertible_to<std::uint64_t>;
  { order.fill(n, n, points) } -> std::same_as<void>;
  { order.name() } -> std::convertible_to<std::string>;
  { order.describe() } -> std::convertible_to<std::string>;
};

/// Makes a stage of a custom order. `pipeline | MyOrder{}` does the same.
template <Order O>
Stage order(O o) {
  return detail::make_order(std::shared_ptr<const detail::OrderModel>(new detail::OrderOf<O>(std::move(o))),
                            std::nullopt);
}

/// Overload for types that are not orders: fails to compile with the reason.
template <class O>
Stage order(O) {
  detail::explain_order<O>();
  return detail::make_order(nullptr, std::nullopt);
}

}  // namespace penstock
