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

/// What a transform may know besides its sample. Valid during the call; one thread at a time.
class PENSTOCK_API Context {
 public:
  /// `stop` must outlive this; null: nothing ever asks it to stop. (By address, as every copy of a token counts itself
  /// in memory that all threads share.)
  Context(std::uint64_t seed, std::uint64_t stage_key, const Place& place, std::uint64_t index,
          const std::stop_token* stop = nullptr)
      : place_(place), index_(index), rng_(seed, stage_key, place), stop_(stop) {}

  /// Where the sample stands: what its draws are keyed by.
  const Place& place() const noexcept { return place_; }
  /// The sample's index in its source.
  std::uint64_t index() const noexcept { return index_; }
  /// The only randomness a transform may use.
  Rng& rng() noexcept { return rng_; }
  /// Becomes true when the loader is closing: long work should return.
  bool stop_requested() const noexcept { return stop_ != nullptr && stop_->stop_requested(); }

 private:
  Place place_;
  std::uint64_t index_;
  Rng rng_;
  const std::stop_token* stop_;
};

/// Changes one sample: `void operator()(Sample&, Context&) const`. Const, because any thread calls it at any time.
///
/// A transform that adds, drops or reshapes fields also says `Schema schema(const Schema& in) const`: the samples it is
/// given then have that schema, with new and changed fields unset until it emplaces them. (The old value of a changed
/// field is reached with `Sample::view` before it is emplaced, where dtype and rank stay the same.)
/// `std::string name() const` names it in plans, errors and random keys (default "map"); `std::uint64_t version()
/// const` is part of the fingerprint: raise it when the result changes; so is `std::string describe() const`, its
/// result options.
template <class F>
concept Transform = requires(const F& f, Sample& sample, Context& context) {
  { f(sample, context) } -> std::same_as<void>;
};

/// Dtype and shape of a field's value; or of all its values, with `dynamic` for dimensions in which they differ.
struct TensorType {
  /// Type of the elements.
  DType dtype = DType::u8;
  /// Dimensions of one sample's value, without the batch dimension.
  Shape shape;
};

/// What a callable of `map` takes in place of a second view where the result's shape depends on the sample: it is said
/// once, when it is known. Valid during the call.
template <class T, std::size_t R>
class Output {
 public:
  /// For code of the library.
  explicit Output(detail::FieldOutput& place) : place_(&place) {}
  /// Memory for the result: the sample's own row of the batch wherever no later stage changes the field. Its content
  /// is undefined. Called once for each sample. @throws Error(schema_mismatch) for another rank, or where
  /// `MapOptions::shape` says otherwise; Error(limit_exceeded) above `max_sample_bytes`.
  View<T, R> emplace(const Shape& shape) const {
    return View<T, R>(reinterpret_cast<T*>(place_->emplace(shape)), shape);
  }

 private:
  detail::FieldOutput* place_;
};

/// A callable for `map("field", f)`, const, returning void, with plain (not `auto`) parameters:
///   (View<const T, R> in, View<U, S> out)    the result has the input's shape, or the one that is said
///   (View<const T, R> in, Output<U, S> out)  the result's shape is said by `out.emplace(shape)` in each call
///   (View<T, R> in_place)
/// each with a further `Context&`.
template <class F>
concept FieldTransform =
    detail::ConstCall<F, void> && detail::FieldMapArgs<typename detail::CallOf<std::decay_t<F>>::args>::usable;

/// An object for `map("field", f)` that takes fields of any dtype and rank, or of several:
///     TensorType result(const TensorType& in) const;    the type of its result for such an input, of one value or of
///                                                       all; throws Error(schema_mismatch) for what it does not take
///     void operator()(const TensorView& in, const TensorView& out) const;
template <class F>
concept TensorTransform = requires(const F& f, const TensorType& type, const TensorView& in, const TensorView& out) {
  { f.result(type) } -> std::same_as<TensorType>;
  { f(in, out) } -> std::same_as<void>;
};

}  // namespace penstock
