// SPDX-License-Identifier: Apache-2.0
#include <penstock/detail/order_model.hpp>
#include <penstock/extend/order.hpp>
#include <penstock/stages/order.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <penstock/error.hpp>

#include "base/hash.hpp"
#include "order/bijection.hpp"
#include "order/orders.hpp"
#include "order/splits.hpp"

namespace penstock {

namespace {

struct Shuffle {
  std::uint64_t size(std::uint64_t n) const { return n; }
  void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const {
    // Consecutive points are nearly always in the same epoch, so they share a permutation.
    for (std::size_t i = 0; i < points.size();) {
      const std::uint64_t epoch = points[i].epoch;
      const detail::Bijection bijection(n, detail::hash_mix(seed, epoch));
      for (; i < points.size() && points[i].epoch == epoch; ++i) points[i].position = bijection(points[i].position);
    }
  }
  std::string name() const { return "shuffle"; }
  std::string describe() const { return ""; }
};

struct Take {
  std::uint64_t count;
  std::uint64_t size(std::uint64_t n) const { return std::min(n, count); }
  void fill(std::uint64_t, std::uint64_t, std::span<OrderPoint>) const {}
  std::uint64_t run_length(std::uint64_t n, std::uint64_t position) const { return size(n) - position; }
  std::string name() const { return "take"; }
  bool fixed() const { return true; }
  std::string describe() const { return std::to_string(count); }
};

struct Skip {
  std::uint64_t count;
  std::uint64_t size(std::uint64_t n) const { return n - std::min(n, count); }
  void fill(std::uint64_t, std::uint64_t, std::span<OrderPoint> points) const {
    for (OrderPoint& p : points) p.position += count;
  }
  std::uint64_t run_length(std::uint64_t n, std::uint64_t position) const { return size(n) - position; }
  std::string name() const { return "skip"; }
  bool fixed() const { return true; }
  std::string describe() const { return std::to_string(count); }
};

struct Select {
  std::shared_ptr<const std::vector<std::uint64_t>> positions;
  std::uint64_t largest;
  std::uint64_t size(std::uint64_t n) const {
    if (!positions->empty() && largest >= n)
      throw Error(Errc::invalid_argument,
                  "position " + std::to_string(largest) + " was selected, but there are only " + std::to_string(n));
    return positions->size();
  }
  void fill(std::uint64_t, std::uint64_t, std::span<OrderPoint> points) const {
    for (OrderPoint& p : points) p.position = (*positions)[p.position];
  }
  std::string name() const { return "select"; }
  bool fixed() const { return true; }
  std::string describe() const {
    return std::to_string(positions->size()) + " positions, hash " +
           std::to_string(detail::hash_bytes(positions->data(), positions->size() * sizeof(std::uint64_t)));
  }
};

struct Repeat {
  std::uint64_t times;
  std::uint64_t size(std::uint64_t n) const {
    if (n != 0 && times > (std::uint64_t{1} << 62) / n)
      throw Error(Errc::invalid_argument, "the repeated input has more than 2^62 records");
    return n * times;
  }
  void fill(std::uint64_t, std::uint64_t n, std::span<OrderPoint> points) const {
    for (OrderPoint& p : points) {
      p.epoch = p.epoch * times + p.position / n;
      p.position %= n;
    }
  }
  std::uint64_t run_length(std::uint64_t n, std::uint64_t position) const { return n - position % n; }
  std::string name() const { return "repeat"; }
  bool fixed() const { return true; }
  std::string describe() const { return std::to_string(times); }
};

// Splits by index. The records are permuted, in every epoch alike. A part is a range of the permutation. `all_but`
// keeps what is before and after the part's range.
struct SplitByIndex {
  SplitOptions options;
  std::uint64_t size(std::uint64_t n) const {
    const auto [first, last] = detail::split_range(options, n);
    return detail::keeps(options, true) ? last - first : n - (last - first);
  }
  void fill(std::uint64_t, std::uint64_t n, std::span<OrderPoint> points) const {
    const auto [first, last] = detail::split_range(options, n);
    const detail::Bijection bijection(n, detail::hash_mix(options.salt, 0x73706c6974));
    // Positions before `before` stay where they are in the permutation. All others move by `gap`.
    const bool part = detail::keeps(options, true);
    const std::uint64_t before = part ? 0 : first, gap = part ? first : last - first;
    for (OrderPoint& p : points) p.position = bijection(p.position < before ? p.position : p.position + gap);
  }
  std::string name() const { return "split"; }
  bool fixed() const { return true; }
  std::string describe() const { return detail::describe_split(options); }
};

Stage wrap(auto order) {
  return detail::make_order(std::make_shared<const detail::OrderOf<decltype(order)>>(std::move(order)), std::nullopt);
}

}  // namespace

Stage take(std::uint64_t n) { return wrap(Take{n}); }
Stage skip(std::uint64_t n) { return wrap(Skip{n}); }
Stage select(std::vector<std::uint64_t> positions) {
  const std::uint64_t largest = positions.empty() ? 0 : *std::ranges::max_element(positions);
  return wrap(Select{std::make_shared<const std::vector<std::uint64_t>>(std::move(positions)), largest});
}
Stage repeat(std::uint64_t times) {
  if (times == 0) throw Error(Errc::invalid_argument, "repeat at least once").with_stage("repeat");
  return wrap(Repeat{times});
}
namespace detail {
std::shared_ptr<const OrderModel> split_order(SplitOptions options) {
  return std::make_shared<const OrderOf<SplitByIndex>>(SplitByIndex{std::move(options)});
}
std::shared_ptr<const OrderModel> shuffle_order() { return std::make_shared<const OrderOf<Shuffle>>(Shuffle{}); }
std::shared_ptr<const OrderModel> select_order(std::vector<std::uint64_t> positions) {
  const std::uint64_t largest = positions.empty() ? 0 : positions.back();
  return std::make_shared<const OrderOf<Select>>(
      Select{std::make_shared<const std::vector<std::uint64_t>>(std::move(positions)), largest});
}
}  // namespace detail

}  // namespace penstock
