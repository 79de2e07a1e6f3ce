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

/// A position in an epoch. Orders turn positions of their result into positions of what stands before them.
struct OrderPoint {
  /// Number of the epoch, from 0.
  std::uint64_t epoch = 0;
  /// Position in the epoch, from 0.
  std::uint64_t position = 0;
  friend bool operator==(const OrderPoint&, const OrderPoint&) = default;
};

/// A stage that changes which records come, and in what order; a pure function, so nothing is saved: a resume is a
/// position and a shard is a slice.
///
///     std::uint64_t size(std::uint64_t n) const;      length of the result over an input of length n
///     void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const;
///                                                     each point, below size(n), becomes a point of the input, below n
///     std::string name() const;  std::string describe() const;
///     bool fixed() const;                             if it is there: true where no epoch differs from another, so
///                                                     that what knows records by their positions (draws by
///                                                     weight, shuffles of blocks) may stand after it
///     std::uint64_t run_length(std::uint64_t n, std::uint64_t position) const;
///                                                     if it is there: so many points from `position` on, in any epoch,
///                                                     become points that follow each other; at least 1. What goes
///                                                     through all positions is then quick
///     O for_batches(std::uint64_t rows) const;        if it is there: the same order where batches have so many rows,
///                                                     asked when `batch` joins; 0: their rows are not known before
///
/// `fill` is called from any thread. `seed` is the pipeline's seed mixed with this stage's key.
template <class O>
concept Order = requires(const O& order, std::uint64_t n, std::span<OrderPoint> points) {
  { order.size(n) } -> std::convertible_to<std::uint64_t>;
  { order.fill(n, n, points) } -> std::same_as<void>;
  { order.name() } -> std::convertible_to<std::string>;
  { order.describe() } -> std::convertible_to<std::string>;
};

/// An order of one's own as a stage. `pipeline | MyOrder{}` does the same.
template <Order O>
Stage order(O o) {
  return detail::make_order(std::shared_ptr<const detail::OrderModel>(new detail::OrderOf<O>(std::move(o))),
                            std::nullopt);
}

/// What is no order: a compiler's error that says why.
template <class O>
Stage order(O) {
  detail::explain_order<O>();
  return detail::make_order(nullptr, std::nullopt);
}

}  // namespace penstock
