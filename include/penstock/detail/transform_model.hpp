// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <penstock/detail/call_traits.hpp>
#include <penstock/detail/callable_adapter.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/detail/field_output.hpp>
#include <penstock/detail/optional_member.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/schema.hpp>
#include <penstock/shape.hpp>
#include <penstock/tensor.hpp>

namespace penstock::detail {

class PENSTOCK_API TransformModel {
 public:
  virtual ~TransformModel() = default;
  virtual void apply(Sample& sample, Context& context) const = 0;
  virtual Schema schema(const Schema& in) const { return in; }
  virtual std::string name() const { return "map"; }
  virtual std::uint64_t version() const { return 0; }
  virtual bool versioned() const { return false; }  ///< whether the transform has a version
  virtual std::string describe() const { return {}; }
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
    return call_or(TransformModel::describe(), PENSTOCK_MEMBER(describe, "std::string describe() const"), this->f_);
  }
};

/// A callable on one field's value, of any type, through one interface.
class PENSTOCK_API FieldMapModel {
 public:
  virtual ~FieldMapModel() = default;
  /// Calls the callable. `out` is the same as `in` if the callable works in place.
  virtual void apply(const TensorView& in, const TensorView& out, Context& context) const = 0;
  /// Called instead of `apply` if `decides_shape` is true.
  virtual void make(const TensorView& in, FieldOutput& out, Context& context) const;
  /// Returns the type of the result for an input of type `in`. If `in` describes one value, so does the result. If `in`
  /// describes all values of a field, so does the result. Called only if `any_type` is true.
  /// @throws Error(schema_mismatch) if the callable does not take such values.
  virtual TensorType result(const TensorType& in) const { return in; }
  virtual void check(const Shape&) const {}
  virtual std::string describe() const { return {}; }
  virtual bool versioned() const { return false; }  ///< whether the callable has a version
  virtual bool draws() const { return false; }      ///< whether the callable draws
  bool any_type = false;  ///< whether the callable takes fields of any dtype and rank for which `result` does not throw
  // `in_dtype`, `out_dtype`, `in_rank` and `out_rank` are set only if `any_type` is false.
  DType in_dtype{}, out_dtype{};
  std::size_t in_rank = 0, out_rank = 0;
  bool in_place = false;
  bool decides_shape = false;
};

/// The members that all kinds of callables on one field's value have in common.
template <class F>
class FieldCallableOf : public FieldMapModel {
 public:
  explicit FieldCallableOf(F f) : f_(std::move(f)) {}
  std::string describe() const override {
    return call_or(FieldMapModel::describe(), PENSTOCK_MEMBER(describe, "std::string describe() const"), f_);
  }
  bool versioned() const override {
    return requires { f_.version(); };
  }
  bool draws() const override { return call_or(false, PENSTOCK_MEMBER(draws, "bool draws() const"), f_); }

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
      static_cast<void>(in), static_cast<void>(out), static_cast<void>(context);  // `make` is called instead
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
    call_if(PENSTOCK_MEMBER(check, "void check(const Shape& in) const"), this->f_, in);
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
  void apply(const TensorView& in, const TensorView& out, Context& context) const override {
    if constexpr (requires { this->f_(in, out, context); })
      this->f_(in, out, context);
    else
      this->f_(in, out);
  }
  TensorType result(const TensorType& in) const override { return this->f_.result(in); }
};

template <FieldTransform F>
std::shared_ptr<const FieldMapModel> field_map_model(F f) {
  using Args = FieldMapArgs<typename CallOf<std::decay_t<F>>::args>;
  using Out = typename ResultTraits<typename Args::out>::element;
  static_assert(!std::is_const_v<Out>,
                "penstock: the view that map() writes must not be of const elements: one parameter is changed in "
                "place, of two the second one is written");
  // Checks that both types have a dtype, before the model is made: the compiler's message is shorter then.
  static_assert(sizeof(DTypeOf<typename ViewTraits<typename Args::in>::element>) && sizeof(DTypeOf<Out>));
  return std::make_shared<FieldMapOf<F>>(std::move(f));
}
template <TensorTransform F>
std::shared_ptr<const FieldMapModel> field_map_model(F f) {
  return std::make_shared<TensorMapOf<F>>(std::move(f));
}

}  // namespace penstock::detail
