// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <penstock/detail/call_traits.hpp>
#include <penstock/detail/filter_model.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Decides which samples stay: `bool operator()(const Sample&, Context&) const`; the context is optional. Any thread
/// may call the predicate at any time. The result may depend only on the sample and on the context's draws.
template <class F>
concept SamplePredicate = requires(const F& f, const Sample& sample, Context& context) {
  { f(sample, context) } -> std::same_as<bool>;
}
|| requires(const F& f, const Sample& sample) {
  { f(sample) } -> std::same_as<bool>;
};

/// Settings of `filter`.
struct FilterOptions {
  std::string name = "filter";  ///< name of the stage in plans, errors and random keys
  std::uint64_t version = 0;    ///< result option: raise the version when the predicate's results change
};

/// A predicate on one field: `bool(View<const T, R>) const`, with a plain (not `auto`) parameter.
template <class F>
concept FieldPredicate =
    detail::ConstCall<F, bool> && detail::PredicateArgs<typename detail::CallOf<std::decay_t<F>>::args>::value;

/// Leaves out the samples for which `f` is false:
///
///     filter([](const Sample& s) { return s.scalar<std::int64_t>("label") != 0; })
///
/// The samples that stay keep their order at any number of threads. The number of an epoch's batches is known only
/// after the epoch, so `Pipeline::steps_per_epoch` throws unless `for_rank` sets the number. Orders must stand before
/// the filter. Stages after it never see samples that it left out. If the predicate throws, the sample is a bad sample.
template <SamplePredicate F>
Stage filter(F f, FilterOptions options = {}) {
  return detail::make_filter(std::shared_ptr<const detail::FilterModel>(new detail::FilterOf<F>(std::move(f))), {},
                             DType::u8, 0, std::move(options));
}
/// Overload for callables that are not predicates: fails to compile with the reason.
template <class F>
Stage filter(F, FilterOptions = {}) {
  detail::explain_filter<F>();
  return detail::make_filter(nullptr, {}, DType::u8, 0, {});
}

/// Leaves out the samples for which `f` returns false for the field's value. Checks the field's dtype and rank when the
/// stage joins a pipeline:
///
///     filter("label", [](View<const std::int64_t, 0> label) { return label() != 0; })
template <FieldPredicate F>
Stage filter(std::string field, F f, const FilterOptions& options = {}) {
  using Traits = detail::PredicateArgs<typename detail::CallOf<std::decay_t<F>>::args>;
  auto on_sample = [field, f = std::move(f)](const Sample& sample) -> bool {
    return f(sample.view<typename Traits::element, Traits::rank>(field));
  };
  return detail::make_filter(
      std::shared_ptr<const detail::FilterModel>(new detail::FilterOf<decltype(on_sample)>(std::move(on_sample))),
      std::move(field), dtype_of<typename Traits::element>, Traits::rank, options);
}

/// Overload for callables that are not predicates on a field: fails to compile with the reason.
template <class F>
Stage filter(std::string, F, const FilterOptions& = {}) {
  detail::explain_filter<F>();
  return detail::make_filter(nullptr, {}, DType::u8, 0, {});
}

}  // namespace penstock
