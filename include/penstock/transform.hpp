#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <penstock/export.hpp>
#include <penstock/rng.hpp>
#include <penstock/sample.hpp>
#include <penstock/stage.hpp>

namespace penstock {

/// What a transform may know besides its sample. Valid during the call; one thread at a time.
class PENSTOCK_API Context {
 public:
  /// `stop` must outlive this; null: nothing ever asks it to stop. (By address, as every copy of a token counts itself
  /// in memory that all threads share.)
  Context(std::uint64_t seed, std::uint64_t stage_key, const Place& place, std::uint64_t index,
          const std::stop_token* stop = nullptr)
      : place_(place), index_(index), rng_(seed, stage_key, place), stop_(stop) {}

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

/// Changes one record: `void operator()(Sample&, Context&) const`. Const, because any thread calls it at any time.
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

/// Settings of `map`.
struct MapOptions {
  std::string name = "map";         ///< in plans, errors and random keys
  std::string out = {};             ///< the field to write; default: the field that is read
  std::optional<Shape> shape = {};  ///< of the result; default: the input's
  std::uint64_t version = 0;        ///< result option: raise it when the callable's result changes
};

namespace detail {

class DeviceStageModel;

class PENSTOCK_API TransformModel {
 public:
  virtual ~TransformModel() = default;
  virtual void apply(Sample& sample, Context& context) const = 0;
  virtual Schema schema(const Schema& in) const { return in; }
  virtual std::string name() const { return "map"; }
  virtual std::uint64_t version() const { return 0; }
  virtual bool versioned() const { return false; }  ///< it says which version it is
  virtual std::string describe() const { return {}; }
};

/// What a callable on whole samples may say of itself.
template <class F, class Model>
class CallableOf : public Model {
 public:
  explicit CallableOf(F f) : f_(std::move(f)) {}
  Schema schema(const Schema& in) const override {
    if constexpr (requires {
                    { f_.schema(in) } -> std::convertible_to<Schema>;
                  })
      return f_.schema(in);
    else
      return Model::schema(in);
  }
  std::string name() const override {
    if constexpr (requires {
                    { f_.name() } -> std::convertible_to<std::string>;
                  })
      return f_.name();
    else
      return Model::name();
  }
  std::uint64_t version() const override {
    if constexpr (requires {
                    { f_.version() } -> std::convertible_to<std::uint64_t>;
                  })
      return f_.version();
    else
      return Model::version();
  }

 protected:
  F f_;
};

template <Transform F>
class TransformOf final : public CallableOf<F, TransformModel> {
 public:
  using CallableOf<F, TransformModel>::CallableOf;
  void apply(Sample& sample, Context& context) const override { this->f_(sample, context); }
  bool versioned() const override {
    return requires { this->f_.version(); };
  }
  std::string describe() const override {
    if constexpr (requires {
                    { this->f_.describe() } -> std::convertible_to<std::string>;
                  })
      return this->f_.describe();
    else
      return {};
  }
};

/// A callable on one field's typed view.
class PENSTOCK_API FieldMapModel {
 public:
  virtual ~FieldMapModel() = default;
  /// `out` equals `in` for a callable that works in place.
  virtual void apply(const TensorView& in, const TensorView& out, Context& context) const = 0;
  virtual void check(const Shape&) const {}
  virtual std::string describe() const { return {}; }
  virtual bool versioned() const { return false; }  ///< it says which version it is
  virtual bool draws() const { return false; }      ///< it says that it draws
  DType in_dtype{}, out_dtype{};
  std::size_t in_rank = 0, out_rank = 0;
  bool in_place = false;
};

template <class V>
struct ViewTraits : std::false_type {};
template <class T, std::size_t R>
struct ViewTraits<View<T, R>> : std::true_type {
  using element = T;
  static constexpr std::size_t rank = R;
};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class C, class... A>
struct Signature<void (C::*)(A...) const> {
  using args = std::tuple<std::remove_cvref_t<A>...>;
  static constexpr bool usable = true;
};
template <class C, class... A>
struct Signature<void (C::*)(A...) const noexcept> : Signature<void (C::*)(A...) const> {};
template <class... A>
struct Signature<void (*)(A...)> {
  using args = std::tuple<std::remove_cvref_t<A>...>;
  static constexpr bool usable = true;
};

template <class A>
struct FieldMapArgs {
  static constexpr bool usable = false;
};
template <class In>
struct FieldMapArgs<std::tuple<In>> {
  static constexpr bool usable = ViewTraits<In>::value;
  using in = In;
  using out = In;
  static constexpr bool in_place = true, context = false;
};
template <class In>
struct FieldMapArgs<std::tuple<In, Context>> {
  static constexpr bool usable = ViewTraits<In>::value;
  using in = In;
  using out = In;
  static constexpr bool in_place = true, context = true;
};
template <class In, class Out>
  requires(ViewTraits<Out>::value)
struct FieldMapArgs<std::tuple<In, Out>> {
  static constexpr bool usable = ViewTraits<In>::value;
  using in = In;
  using out = Out;
  static constexpr bool in_place = false, context = false;
};
template <class In, class Out>
  requires(ViewTraits<Out>::value)
struct FieldMapArgs<std::tuple<In, Out, Context>> {
  static constexpr bool usable = ViewTraits<In>::value;
  using in = In;
  using out = Out;
  static constexpr bool in_place = false, context = true;
};

}  // namespace detail

/// A callable for `map("field", f)`, const, returning void, with plain (not `auto`) parameters:
///   (View<const T, R> in, View<U, S> out)  or  (View<T, R> in_place),  either with a further `Context&`.
template <class F>
concept FieldTransform = requires {
  typename detail::Signature<std::decay_t<F>>::args;
}
&&detail::FieldMapArgs<typename detail::Signature<std::decay_t<F>>::args>::usable;

namespace detail {

template <FieldTransform F>
class FieldMapOf final : public FieldMapModel {
  using Args = FieldMapArgs<typename Signature<std::decay_t<F>>::args>;
  using In = ViewTraits<typename Args::in>;
  using Out = ViewTraits<typename Args::out>;
  static_assert(!std::is_const_v<typename Out::element>,
                "penstock: the view that map() writes must not be of const elements");

 public:
  explicit FieldMapOf(F f) : f_(std::move(f)) {
    in_dtype = dtype_of<typename In::element>;
    out_dtype = dtype_of<typename Out::element>;
    in_rank = In::rank;
    out_rank = Out::rank;
    in_place = Args::in_place;
  }
  void apply(const TensorView& in, const TensorView& out, Context& context) const override {
    const View<typename In::element, In::rank> from(reinterpret_cast<typename In::element*>(in.data), in.shape);
    const View<typename Out::element, Out::rank> to(reinterpret_cast<typename Out::element*>(out.data), out.shape);
    if constexpr (Args::in_place && Args::context)
      f_(to, context);
    else if constexpr (Args::in_place)
      f_(to);
    else if constexpr (Args::context)
      f_(from, to, context);
    else
      f_(from, to);
  }
  void check(const Shape& in) const override {
    if constexpr (requires { f_.check(in); }) f_.check(in);
  }
  std::string describe() const override {
    if constexpr (requires {
                    { f_.describe() } -> std::convertible_to<std::string>;
                  })
      return f_.describe();
    else
      return {};
  }
  bool versioned() const override {
    return requires { f_.version(); };
  }
  bool draws() const override {
    if constexpr (requires {
                    { f_.draws() } -> std::convertible_to<bool>;
                  })
      return f_.draws();
    else
      return false;
  }

 private:
  F f_;
};

PENSTOCK_API Stage make_map(std::shared_ptr<const TransformModel> model);
/// `on_batches`: what does the same to whole batches, with the same draws, of fields of fixed shape: the stage may then
/// stand behind `batch` too. Its `writes` names what the map writes.
PENSTOCK_API Stage make_field_map(std::string field, std::shared_ptr<const FieldMapModel> model, MapOptions options,
                                  std::shared_ptr<const DeviceStageModel> on_batches = nullptr);

}  // namespace detail

/// A whole-sample transform as a stage. `pipeline | MyTransform{}` does the same.
template <Transform F>
Stage map(F f) {
  return detail::make_map(std::shared_ptr<const detail::TransformModel>(new detail::TransformOf<F>(std::move(f))));
}

/// A callable on one field:
///     map("image", [](View<const std::uint8_t, 3> in, View<float, 3> out) { … })
/// reads field "image" where it lies and writes its new value where the next stage, or the batch, wants it.
/// Dtypes and ranks are checked against the schema when the stage joins a pipeline. A callable may also say
/// `void check(const Shape& in) const`, which throws Error(schema_mismatch) for shapes it can't take, and
/// `std::string describe() const`, its result options, which become part of the fingerprint, as does
/// `std::uint64_t version() const`, which is added to that of `options`.
template <FieldTransform F>
Stage map(std::string field, F f, MapOptions options = {}) {
  if constexpr (requires {
                  { f.version() } -> std::convertible_to<std::uint64_t>;
                })
    options.version += f.version();
  return detail::make_field_map(std::move(field),
                                std::shared_ptr<const detail::FieldMapModel>(new detail::FieldMapOf<F>(std::move(f))),
                                std::move(options));
}

}  // namespace penstock
