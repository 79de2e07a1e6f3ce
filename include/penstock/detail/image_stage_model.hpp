// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/optional_member.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/box_conversion.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/shape.hpp>
#include <penstock/stages/image_fields.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock::detail {

/// An image stage of any type, through one interface. Its parameters are passed as up to 64 plain bytes.
class PENSTOCK_API ImageStageModel {
 public:
  static constexpr std::size_t max_params = 64;
  virtual ~ImageStageModel() = default;
  virtual void draw(const ImageShape& shape, Rng& rng, void* params) const = 0;
  virtual void compose(const void* params, const ImageShape& shape, ImageOp& op) const = 0;
  virtual Shape schema(const Shape& in, DType& dtype) const = 0;
  virtual std::string name() const = 0;
  virtual std::string describe() const = 0;
  virtual std::uint64_t version() const = 0;
  virtual bool draws() const = 0;
  virtual bool resamples() const = 0;
  virtual bool versioned() const = 0;  ///< whether the stage has a version
  /// What the stage does to boxes, besides what follows from the image; null: nothing.
  virtual const BoxConversion* box_conversion() const { return nullptr; }
};

/// True if `draw` returns a plain struct that is small enough.
template <class S>
concept DrawsPlainParams = requires {
  requires std::is_trivially_copyable_v<std::remove_cvref_t<decltype(std::declval<const S&>().draw(
      std::declval<const ImageShape&>(), std::declval<Rng&>()))>>;
  requires sizeof(std::declval<const S&>().draw(std::declval<const ImageShape&>(), std::declval<Rng&>())) <=
      ImageStageModel::max_params;
};

template <class S>
class ImageStageOf final : public ImageStageModel {
  using Params = std::remove_cvref_t<decltype(std::declval<const S&>().draw(std::declval<const ImageShape&>(),
                                                                            std::declval<Rng&>()))>;
  static_assert(std::is_trivially_copyable_v<Params> && sizeof(Params) <= max_params,
                "penstock: draw() of an image stage must return a trivially copyable struct of at most 64 bytes");

 public:
  explicit ImageStageOf(S stage) : stage_(std::move(stage)) {}
  void draw(const ImageShape& shape, Rng& rng, void* params) const override {
    ::new (params) Params(stage_.draw(shape, rng));
  }
  void compose(const void* params, const ImageShape& shape, ImageOp& op) const override {
    stage_.compose(*static_cast<const Params*>(params), shape, op);
  }
  Shape schema(const Shape& in, DType& dtype) const override {
    if constexpr (requires { stage_.schema(in, dtype); })
      return stage_.schema(in, dtype);
    else
      return call_or(in, PENSTOCK_MEMBER(schema, "Shape schema(const Shape& in) const"), stage_, in);
  }
  std::string name() const override {
    return call_or(std::string("image_stage"), PENSTOCK_MEMBER(name, "std::string name() const"), stage_);
  }
  std::string describe() const override {
    return call_or(std::string(), PENSTOCK_MEMBER(describe, "std::string describe() const"), stage_);
  }
  std::uint64_t version() const override {
    return call_or(std::uint64_t{0}, PENSTOCK_MEMBER(version, "std::uint64_t version() const"), stage_);
  }
  bool draws() const override {
    return call_or(!std::is_empty_v<Params>, PENSTOCK_MEMBER(draws, "bool draws() const"), stage_);
  }
  bool resamples() const override {
    return call_or(false, PENSTOCK_MEMBER(resamples, "bool resamples() const"), stage_);
  }
  bool versioned() const override {
    return requires { stage_.version(); };
  }
  const BoxConversion* box_conversion() const override {
    if constexpr (requires { stage_.box_conversion(); })
      return &stage_.box_conversion();
    else
      return nullptr;
  }

 private:
  S stage_;
};

/// `executor` must live as long as the program, like the built-in executor.
PENSTOCK_API Stage make_image_stage(ImageFields fields, std::shared_ptr<const ImageStageModel> model,
                                    const ImageExecutor& executor);

}  // namespace penstock::detail
