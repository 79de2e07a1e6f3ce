// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <penstock/detail/call_traits.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {
struct FilterOptions;
}

namespace penstock::detail {

class PENSTOCK_API FilterModel {
 public:
  virtual ~FilterModel() = default;
  virtual bool keeps(const Sample& sample, Context& context) const = 0;
};

template <class F>
class FilterOf final : public FilterModel {
 public:
  explicit FilterOf(F f) : f_(std::move(f)) {}
  bool keeps(const Sample& sample, Context& context) const override {
    if constexpr (requires { f_(sample, context); })
      return f_(sample, context);
    else
      return f_(sample);
  }

 private:
  F f_;
};

/// Describes the parameter of a predicate on one field.
template <class Args>
struct PredicateArgs : std::false_type {};
template <class T, std::size_t R>
struct PredicateArgs<std::tuple<View<const T, R>>> : std::true_type {
  using element = const T;
  static constexpr std::size_t rank = R;
};

/// Fails to compile with the reason why a callable is neither a predicate on samples nor a predicate on a field.
template <class F>
constexpr void explain_filter() {
  if constexpr (requires { typename CallOf<F>::args; }) {
    if constexpr (!CallOf<F>::is_const)
      static_assert(
          mistaken<F>,
          "penstock: the call operator of what filter() asks must be const, as any thread calls it at any time "
          "(a lambda must not be mutable)");
    else if constexpr (!std::same_as<typename CallOf<F>::returns, bool>)
      static_assert(mistaken<F>, "penstock: what filter() asks must return bool: true for a sample that stays");
    else
      static_assert(mistaken<F>,
                    "penstock: what filter() asks takes a const Sample&, and may take a Context& after it; what "
                    "filter(\"field\", ...) asks takes a View<const T, R> of the field");
  } else if constexpr (!std::is_class_v<F>) {
    static_assert(mistaken<F>,
                  "penstock: filter() takes a predicate to call, like [](const Sample& sample) {...}, or a field and a "
                  "predicate on its View");
  } else {
    static_assert(mistaken<F>,
                  "penstock: what filter() asks needs one call operator, with a plain parameter instead of auto, which "
                  "returns bool: [](View<const std::int64_t, 0> label) { return label() != 0; }");
  }
}

PENSTOCK_API Stage make_filter(std::shared_ptr<const FilterModel> model, std::string field, DType dtype,
                               std::size_t rank, FilterOptions options);

}  // namespace penstock::detail
