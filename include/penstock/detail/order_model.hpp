// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/optional_member.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {
struct OrderPoint;
}

namespace penstock::detail {

class PENSTOCK_API OrderModel {
 public:
  virtual ~OrderModel() = default;
  virtual std::uint64_t size(std::uint64_t n) const = 0;
  virtual void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const = 0;
  virtual std::string name() const = 0;
  virtual std::string describe() const = 0;
  virtual bool fixed() const { return false; }
  virtual std::uint64_t run_length(std::uint64_t, std::uint64_t) const { return 1; }
  /// Returns the order for batches with this number of rows. Returns null if the order is the same for batches of any
  /// size.
  virtual std::shared_ptr<const OrderModel> for_batches(std::uint64_t) const { return nullptr; }
};
template <class O>
class OrderOf final : public OrderModel {
 public:
  explicit OrderOf(O order) : order_(std::move(order)) {}
  std::uint64_t size(std::uint64_t n) const override { return order_.size(n); }
  void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const override {
    order_.fill(seed, n, points);
  }
  std::string name() const override { return order_.name(); }
  std::string describe() const override { return order_.describe(); }
  bool fixed() const override {
    return call_or(OrderModel::fixed(), PENSTOCK_MEMBER(fixed, "bool fixed() const"), order_);
  }
  std::uint64_t run_length(std::uint64_t n, std::uint64_t position) const override {
    return call_or(
        OrderModel::run_length(n, position),
        PENSTOCK_MEMBER(run_length, "std::uint64_t run_length(std::uint64_t n, std::uint64_t position) const"), order_,
        n, position);
  }
  std::shared_ptr<const OrderModel> for_batches(std::uint64_t rows) const override {
    if constexpr (requires {
                    { order_.for_batches(rows) } -> std::convertible_to<O>;
                  }) {
      return std::make_shared<const OrderOf>(order_.for_batches(rows));
    } else {
      return nullptr;
    }
  }

 private:
  O order_;
};
PENSTOCK_API Stage make_order(std::shared_ptr<const OrderModel> model, std::optional<std::uint64_t> seed);

}  // namespace penstock::detail
