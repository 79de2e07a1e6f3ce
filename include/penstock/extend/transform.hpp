// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <type_traits>

#include <penstock/detail/call_traits.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/detail/field_output.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>
#include <penstock/shape.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// What a transform may use in addition to its sample. Valid during the call; one thread at a time.
class PENSTOCK_API Context {
 public:
  /// `stop` must outlive the Context. If `stop` is null, `stop_requested` always returns false. (`stop` is a pointer
  /// because each copy of a stop_token is counted in memory that all threads share.)
  Context(std::uint64_t seed, std::uint64_t stage_key, const Place& place, std::uint64_t index,
          const std::stop_token* stop = nullptr)
      : place_(place), index_(index), rng_(seed, stage_key, place), stop_(stop) {}

  /// The sample's place: the key of its draws.
  const Place& place() const noexcept { return place_; }
  /// The index of the sample's record in its source.
  std::uint64_t index() const noexcept { return index_; }
  /// Random numbers. A transform may use no other randomness.
  Rng& rng() noexcept { return rng_; }
  /// Whether the run is ending early, because the loader is closing, or because `WriteOptions::stop` was requested. If
  /// so, long work should return.
  bool stop_requested() const noexcept { return stop_ != nullptr && stop_->stop_requested(); }

 private:
  Place place_;
  std::uint64_t index_;
  Rng rng_;
  const std::stop_token* stop_;
};

/// Changes one sample: `void operator()(Sample&, Context&) const`. The operator is const because any thread calls it at
/// any time. A transform may also have
///
///     Schema schema(const Schema& in) const;
///         Returns the schema of the results. Required if the transform adds or drops fields, or changes their dtype or
///         shape. The samples that the transform gets then have this schema. A new field, or a field whose dtype or
///         rank changes, has no value until the transform emplaces it. Any other field keeps its old value until then.
///     std::string name() const;
///         Name in plans, errors and random keys. Default: "map".
///     std::uint64_t version() const;
///         Part of the fingerprint: raise the version when the results change.
///     std::string describe() const;
///         The result options, as a part of the fingerprint.
template <class F>
concept Transform = requires(const F& f, Sample& sample, Context& context) {
  { f(sample, context) } -> std::same_as<void>;
};

/// Dtype and shape of one value of a field, or of all its values. A dimension in which values differ is `dynamic`.
struct TensorType {
  /// Type of the elements.
  DType dtype = DType::u8;
  /// Dimensions of one sample's value, without the batch dimension.
  Shape shape;
};

/// What a callable of `map` takes instead of a second view if the result's shape depends on the sample. The callable
/// sets the shape once. Valid during the call.
template <class T, std::size_t R>
class Output {
 public:
  /// For code of the library.
  explicit Output(detail::FieldOutput& place) : place_(&place) {}
  /// Returns memory for the result, with undefined content. If no later stage changes the field, the memory is the
  /// sample's own row of the batch. Call `emplace` once per sample.
  /// @throws Error(schema_mismatch) if the rank is not R, or `MapOptions::shape` does not allow the shape.
  /// @throws Error(limit_exceeded) if the result is larger than `max_sample_bytes`.
  /// @throws Error(invalid_argument) on the second call, or if a dimension is `dynamic`.
  View<T, R> emplace(const Shape& shape) const {
    return View<T, R>(reinterpret_cast<T*>(place_->emplace(shape)), shape);
  }

 private:
  detail::FieldOutput* place_;
};

/// A callable for `map("field", f)`. Its call operator is const and returns void. No parameter is `auto`. The
/// parameters are one of these lists:
///
///     (View<const T, R> in, View<U, S> out)
///         The result has the input's shape, or the shape in `MapOptions`.
///     (View<const T, R> in, Output<U, S> out)
///         Each call sets the result's shape by `out.emplace(shape)`.
///     (View<T, R> in_place)
///         The callable changes the field's value in place.
///
/// A further parameter `Context&` may follow.
template <class F>
concept FieldTransform =
    detail::ConstCall<F, void> && detail::FieldMapArgs<typename detail::CallOf<std::decay_t<F>>::args>::usable;

/// An object for `map("field", f)` that takes fields of several dtypes or ranks. It has
///
///     TensorType result(const TensorType& in) const;
///         Returns the type of the result for an input of type `in`. If `in` describes one value, so does the result.
///         If `in` describes all values of a field, so does the result. Throws Error(schema_mismatch) if the object
///         does not take such an input.
///     void operator()(const TensorView& in, const TensorView& out) const;
///         Writes the result for `in` to `out`. A further parameter `Context&` may follow.
template <class F>
concept TensorTransform = requires(const F& f, const TensorType& type) {
  { f.result(type) } -> std::same_as<TensorType>;
}
&&(
    requires(const F& f, const TensorView& in, const TensorView& out) {
      { f(in, out) } -> std::same_as<void>;
    } ||
    requires(const F& f, const TensorView& in, const TensorView& out, Context& context) {
      { f(in, out, context) } -> std::same_as<void>;
    });

}  // namespace penstock
