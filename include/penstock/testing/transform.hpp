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
  std::uint64_t records = 50;      ///< how many of the inputs are tried, from the first on, at most
  std::uint64_t epochs = 2;        ///< how many epochs its places have; at least 1
  unsigned threads = 4;            ///< threads that call it at once
  bool allow_bad_records = false;  ///< a record may be an Error of one sample; it must then always be the same one
};

namespace detail {
using MakeTransform = std::function<std::shared_ptr<const penstock::detail::TransformModel>()>;
PENSTOCK_API Report check_transform(const MakeTransform& make, const AnySource& inputs,
                                    const TransformOptions& options);
}  // namespace detail

/// Holds a transform to what `Transform` promises: at one place it makes the same of a record, whatever was called
/// before, by any thread, and by another object made alike, so that all randomness comes from its Context; what comes
/// out is what its `schema` says, every new field is set, and no byte outside its fields is touched. `make` gives the
/// transform. Threads are started; nothing is thrown, but for what `make` and the inputs throw the first time.
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

/// Holds any stage that makes one sample of one (`map` on a field, a decoder, an image stage) to its promises, through
/// pipelines: samples made one by one, in any order, by several threads and by loaders of one thread and several agree
/// bit for bit and are as the pipeline's schema says. Loaders take part where all shapes are fixed and no record is
/// bad.
PENSTOCK_API Report check_stage(const Stage& stage, const AnySource& inputs, const TransformOptions& options = {});

}  // namespace penstock::testing
