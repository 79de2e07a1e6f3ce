// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/transform_model.hpp>
#include <penstock/extend/any_source.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_transform` and `check_stage`.
struct TransformOptions {
  /// Largest number of inputs that are tried, beginning with the first input.
  std::uint64_t records = 50;
  /// Number of epochs in which each input is tried; at least 1.
  std::uint64_t epochs = 2;
  /// Number of threads that call the transform at the same time.
  unsigned threads = 4;
  /// Whether a record may give an Error of one sample. If it does, it must give the same Error each time.
  bool allow_bad_records = false;
};

namespace detail {
using MakeTransform = std::function<std::shared_ptr<const penstock::detail::TransformModel>()>;
PENSTOCK_API Report check_transform(const MakeTransform& make, const AnySource& inputs,
                                    const TransformOptions& options);
}  // namespace detail

/// Checks that a transform keeps the promises of `Transform`:
///
/// - all randomness comes from the Context: at the same place, the transform makes the same result from a record, on
///   any thread and whatever was called before;
/// - a second transform from `make` makes the same results;
/// - the result matches its `schema`, and every new field has a value;
/// - the transform writes only to memory that its Sample gives for writing.
///
/// `make` returns the transform. Starts threads. Throws only what the first call of `make`, or reading the inputs,
/// throws.
///
///     check_transform([] { return AddNoise{.most = 0.1f}; }, share(Sines{}));
template <class Make>
  requires Transform<std::invoke_result_t<Make&>> Report check_transform(Make make, const AnySource& inputs,
                                                                         const TransformOptions& options = {}) {
    using F = std::invoke_result_t<Make&>;
    const auto shared = std::make_shared<Make>(std::move(make));
    return detail::check_transform([shared] { return std::make_shared<penstock::detail::TransformOf<F>>((*shared)()); },
                                   inputs, options);
  }

/// Checks a stage that makes one sample from each sample (`map` on a field, a decoder, an image stage) in pipelines.
/// Makes the samples in different ways: one by one, in a different order, on several threads, and with loaders that
/// have one thread or several. All results must agree bit for bit and match the pipeline's schema. Loaders take part
/// only if all shapes are fixed and no record is bad.
PENSTOCK_API Report check_stage(const Stage& stage, const AnySource& inputs, const TransformOptions& options = {});

}  // namespace penstock::testing
