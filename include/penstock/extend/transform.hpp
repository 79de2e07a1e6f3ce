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

#include <penstock/detail/export.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/stages/stage.hpp>

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
  std::optional<Shape> shape = {};  ///< of the result; default: the input's, and where an `Output` decides it for each
                                    ///< sample, any: then it may say the dimensions that are known, {80, dynamic}
  std::uint64_t version = 0;        ///< result option: raise it when the callable's result changes
};

/// Dtype and shape of a field's value, or of all its values: then with `dynamic` where they differ.
struct TensorType {
  DType dtype = DType::u8;
  Shape shape;
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

/// Where a callable puts a value whose shape it decides. Of one call.
class PENSTOCK_API FieldOutput {
 public:
  FieldOutput(Cells& cells, std::size_t slot) : cells_(&cells), slot_(slot) {}
  /// @throws Error(invalid_argument) the second time, Error(schema_mismatch) for a shape that was not declared.
  std::byte* emplace(const Shape& shape);
  bool made() const noexcept { return made_; }

 private:
  Cells* cells_;
  std::size_t slot_;
  bool made_ = false;
};

}  // namespace detail

/// What a callable of `map` takes in place of a second view where the result's shape depends on the sample: it is said
/// once, when it is known. Valid during the call.
template <class T, std::size_t R>
class Output {
 public:
  explicit Output(detail::FieldOutput& place) : place_(&place) {}
  /// Memory for the result: the sample's own place in the batch wherever no later stage changes the field. Its content
  /// is undefined. Called once for each sample. @throws Error(schema_mismatch) for another rank, or where
  /// `MapOptions::shape` says otherwise; Error(limit_exceeded) above `max_sample_bytes`.
  View<T, R> emplace(const Shape& shape) const {
    return View<T, R>(reinterpret_cast<T*>(place_->emplace(shape)), shape);
  }

 private:
  detail::FieldOutput* place_;
};

namespace detail {

/// A callable on one field's value.
class PENSTOCK_API FieldMapModel {
 public:
  virtual ~FieldMapModel() = default;
  /// `out` equals `in` for a callable that works in place.
  virtual void apply(const TensorView& in, const TensorView& out, Context& context) const = 0;
  /// Instead of that, where it `decides_shape`.
  virtual void make(const TensorView& in, FieldOutput& out, Context& context) const;
  /// Where it takes `any_type`: of what it makes of such values, or of such a value. @throws Error(schema_mismatch).
  virtual TensorType result(const TensorType& in) const { return in; }
  virtual void check(const Shape&) const {}
  virtual std::string describe() const { return {}; }
  virtual bool versioned() const { return false; }  ///< it says which version it is
  virtual bool draws() const { return false; }      ///< it says that it draws
  bool any_type = false;                            ///< it takes fields of any dtype and rank, as `result` says
  DType in_dtype{}, out_dtype{};                    ///< otherwise
  std::size_t in_rank = 0, out_rank = 0;
  bool in_place = false;
  bool decides_shape = false;
};

template <class V>
struct ViewTraits : std::false_type {};
template <class T, std::size_t R>
struct ViewTraits<View<T, R>> : std::true_type {
  using element = T;
  static constexpr std::size_t rank = R;
};

/// What a callable of `map` writes to, beside its input.
template <class V>
struct ResultTraits : ViewTraits<V> {
  static constexpr bool decides_shape = false;
};
template <class T, std::size_t R>
struct ResultTraits<Output<T, R>> : ViewTraits<View<T, R>> {
  static constexpr bool decides_shape = true;
};

/// The call operator of a callable that has one, and no template.
template <class F>
struct CallOf {};
template <class F>
  requires requires { &F::operator(); }
struct CallOf<F> : CallOf<decltype(&F::operator())> {};
template <class R, class... A>
struct CallOf<R (*)(A...)> {
  using returns = R;
  using args = std::tuple<std::remove_cvref_t<A>...>;
  static constexpr bool is_const = true;
};
template <class R, class... A>
struct CallOf<R (*)(A...) noexcept> : CallOf<R (*)(A...)> {};
template <class R, class C, class... A>
struct CallOf<R (C::*)(A...) const> : CallOf<R (*)(A...)> {};
template <class R, class C, class... A>
struct CallOf<R (C::*)(A...) const noexcept> : CallOf<R (*)(A...)> {};
template <class R, class C, class... A>
struct CallOf<R (C::*)(A...)> : CallOf<R (*)(A...)> {
  static constexpr bool is_const = false;
};
template <class R, class C, class... A>
struct CallOf<R (C::*)(A...) noexcept> : CallOf<R (C::*)(A...)> {};

/// The same where it is as `map` and `filter` want it: const, with this result.
template <class F, class Returns>
concept ConstCall = requires {
  typename CallOf<std::decay_t<F>>::args;
}
&&CallOf<std::decay_t<F>>::is_const&& std::same_as<typename CallOf<std::decay_t<F>>::returns, Returns>;

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
struct FieldMapArgs<std::tuple<In, Context>> : FieldMapArgs<std::tuple<In>> {
  static constexpr bool context = true;
};
template <class In, class Out>
  requires(ResultTraits<Out>::value)
struct FieldMapArgs<std::tuple<In, Out>> {
  static constexpr bool usable = ViewTraits<In>::value;
  using in = In;
  using out = Out;
  static constexpr bool in_place = false, context = false;
};
template <class In, class Out>
  requires(ResultTraits<Out>::value)
struct FieldMapArgs<std::tuple<In, Out, Context>> : FieldMapArgs<std::tuple<In, Out>> {
  static constexpr bool context = true;
};

}  // namespace detail

/// A callable for `map("field", f)`, const, returning void, with plain (not `auto`) parameters:
///   (View<const T, R> in, View<U, S> out)    the result has the input's shape, or the one that is said
///   (View<const T, R> in, Output<U, S> out)  the result's shape is said by `out.emplace(shape)` in each call
///   (View<T, R> in_place)
/// each with a further `Context&`.
template <class F>
concept FieldTransform =
    detail::ConstCall<F, void> && detail::FieldMapArgs<typename detail::CallOf<std::decay_t<F>>::args>::usable;

/// An object for `map("field", f)` that takes fields of any dtype and rank, or of several:
///     TensorType result(const TensorType& in) const;    of what it makes of such values, or of such a value; throws
///                                                       Error(schema_mismatch) for what it does not take
///     void operator()(const TensorView& in, const TensorView& out) const;
template <class F>
concept TensorTransform = requires(const F& f, const TensorType& type, const TensorView& in, const TensorView& out) {
  { f.result(type) } -> std::same_as<TensorType>;
  { f(in, out) } -> std::same_as<void>;
};

namespace detail {

/// What a callable on one field's value may say of itself.
template <class F>
class FieldCallableOf : public FieldMapModel {
 public:
  explicit FieldCallableOf(F f) : f_(std::move(f)) {}
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

 protected:
  F f_;
};

template <FieldTransform F>
class FieldMapOf final : public FieldCallableOf<F> {
  using Args = FieldMapArgs<typename CallOf<std::decay_t<F>>::args>;
  using In = ViewTraits<typename Args::in>;
  using Out = ResultTraits<typename Args::out>;
  using InView = View<typename In::element, In::rank>;

 public:
  explicit FieldMapOf(F f) : FieldCallableOf<F>(std::move(f)) {
    this->in_dtype = dtype_of<typename In::element>;
    this->out_dtype = dtype_of<typename Out::element>;
    this->in_rank = In::rank;
    this->out_rank = Out::rank;
    this->in_place = Args::in_place;
    this->decides_shape = Out::decides_shape;
  }
  void apply(const TensorView& in, const TensorView& out, Context& context) const override {
    if constexpr (Out::decides_shape) {
      static_cast<void>(in), static_cast<void>(out), static_cast<void>(context);  // `make` is called
    } else {
      InView from = view(in);
      View<typename Out::element, Out::rank> to(reinterpret_cast<typename Out::element*>(out.data), out.shape);
      if constexpr (Args::in_place && Args::context)
        this->f_(to, context);
      else if constexpr (Args::in_place)
        this->f_(to);
      else if constexpr (Args::context)
        this->f_(from, to, context);
      else
        this->f_(from, to);
    }
  }
  void make(const TensorView& in, FieldOutput& out, Context& context) const override {
    if constexpr (Out::decides_shape) {
      InView from = view(in);
      typename Args::out to(out);
      if constexpr (Args::context)
        this->f_(from, to, context);
      else
        this->f_(from, to);
    } else {
      FieldMapModel::make(in, out, context);
    }
  }
  void check(const Shape& in) const override {
    if constexpr (requires { this->f_.check(in); }) this->f_.check(in);
  }
  bool draws() const override {
    if constexpr (requires {
                    { this->f_.draws() } -> std::convertible_to<bool>;
                  })
      return this->f_.draws();
    else
      return false;
  }

 private:
  static InView view(const TensorView& in) {
    return InView(reinterpret_cast<typename In::element*>(in.data), in.shape);
  }
};

template <TensorTransform F>
class TensorMapOf final : public FieldCallableOf<F> {
 public:
  explicit TensorMapOf(F f) : FieldCallableOf<F>(std::move(f)) { this->any_type = true; }
  void apply(const TensorView& in, const TensorView& out, Context&) const override { this->f_(in, out); }
  TensorType result(const TensorType& in) const override { return this->f_.result(in); }
};

/// Which mistake keeps a callable from being one for `map("field", f)`.
template <class F>
constexpr void explain_field_map() {
  if constexpr (requires { typename CallOf<F>::args; }) {
    if constexpr (!CallOf<F>::is_const)
      static_assert(mistaken<F>,
                    "penstock: the call operator of what map() takes must be const, as any thread calls it at any time "
                    "(a lambda must not be mutable); what it draws comes from a Context&");
    else if constexpr (!std::same_as<typename CallOf<F>::returns, void>)
      static_assert(mistaken<F>,
                    "penstock: what map() calls must return nothing; it writes its result through a second parameter: "
                    "[](View<const T, R> in, View<U, S> out) {...}");
    else
      static_assert(
          mistaken<F>,
          "penstock: what map(\"field\", ...) calls takes (View<const T, R> in, View<U, S> out), or an "
          "Output<U, S> in place of that view, or (View<T, R> in_place), and may take a Context& after these");
  } else if constexpr (!std::is_class_v<F>) {
    static_assert(mistaken<F>,
                  "penstock: map(\"field\", ...) takes something to call, like [](View<const T, R> in, View<U, S> out) "
                  "{...}, or an object with such a call operator");
  } else {
    static_assert(mistaken<F>,
                  "penstock: what map(\"field\", ...) calls needs one call operator, with plain parameters instead of "
                  "auto: the field's dtype and rank are read off them, as in [](View<const std::uint8_t, 3> in, "
                  "View<float, 3> out) {...}");
  }
}

PENSTOCK_API Stage make_map(std::shared_ptr<const TransformModel> model);
/// `on_batches`: what does the same to whole batches, with the same draws, of fields of fixed shape: the stage may then
/// stand after `batch` too. Its `writes` names what the map writes.
PENSTOCK_API Stage make_field_map(std::string field, std::shared_ptr<const FieldMapModel> model, MapOptions options,
                                  std::shared_ptr<const DeviceStageModel> on_batches = nullptr);

}  // namespace detail

/// A whole-sample transform as a stage. `pipeline | MyTransform{}` does the same.
template <Transform F>
Stage map(F f) {
  return detail::make_map(std::shared_ptr<const detail::TransformModel>(new detail::TransformOf<F>(std::move(f))));
}
/// What is no transform: a compiler's error that says why.
template <class F>
Stage map(F) {
  detail::explain_stage<F>();
  return detail::make_map(nullptr);
}

/// A callable on one field:
///     map("image", [](View<const std::uint8_t, 3> in, View<float, 3> out) { … })
/// reads field "image" where it lies and writes its new value where the next stage, or the batch, wants it. Where only
/// the sample tells the result's shape,
///     map("audio", [](View<const float, 1> in, Output<float, 2> out) { auto bins = out.emplace({frames(in), 80}); … })
/// makes a field of varying shape, for `ragged`, `pad`, or a stage that gives it a fixed one.
/// Dtypes and ranks are checked against the schema when the stage joins a pipeline. A callable may also say
/// `void check(const Shape& in) const`, which throws Error(schema_mismatch) for shapes it can't take, and
/// `std::string describe() const`, its result options, which become part of the fingerprint, as does
/// `std::uint64_t version() const`, which is added to that of `options`.
template <FieldTransform F>
Stage map(std::string field, F f, MapOptions options = {}) {
  static_assert(
      !std::is_const_v<typename detail::ResultTraits<
          typename detail::FieldMapArgs<typename detail::CallOf<std::decay_t<F>>::args>::out>::element>,
      "penstock: the view that map() writes must not be of const elements: one parameter is changed in place, "
      "of two the second one is written");
  if constexpr (requires {
                  { f.version() } -> std::convertible_to<std::uint64_t>;
                })
    options.version += f.version();
  return detail::make_field_map(std::move(field),
                                std::shared_ptr<const detail::FieldMapModel>(new detail::FieldMapOf<F>(std::move(f))),
                                std::move(options));
}
/// The same with an object that takes fields of several dtypes or ranks; `options.shape` is left away.
template <TensorTransform F>
Stage map(std::string field, F f, MapOptions options = {}) {
  if constexpr (requires {
                  { f.version() } -> std::convertible_to<std::uint64_t>;
                })
    options.version += f.version();
  return detail::make_field_map(std::move(field),
                                std::shared_ptr<const detail::FieldMapModel>(new detail::TensorMapOf<F>(std::move(f))),
                                std::move(options));
}
/// What can't be called so: a compiler's error that says why.
template <class F>
Stage map(std::string, F, MapOptions = {}) {
  detail::explain_field_map<F>();
  return detail::make_map(nullptr);
}

}  // namespace penstock
