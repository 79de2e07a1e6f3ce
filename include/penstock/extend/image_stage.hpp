#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <penstock/detail/image_stage_model.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/stages/image_fields.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// A stage that draws parameters and says what it does to an image:
///
///     Params draw(const ImageShape&, Rng&) const;                          Params: a small plain struct
///     void compose(const Params&, const ImageShape&, ImageOp&) const;
///
/// and, where they make sense,
///
///     Shape schema(const Shape& in) const;      [H, W, C] of the result as far as it is known; default: as `in`
///     Shape schema(const Shape& in, DType& dtype) const;     in its place, where the result has another dtype than
///                                               `dtype`, that of the field: the stage sets it. `compose` converts
///     bool resamples() const;                   whether it may resize; default: false. Where it does, images of 16
///                                               bits are refused when it joins a pipeline, not one by one
///     std::string name() const;                 default "image_stage"
///     std::string describe() const;             its result options, for plan() and the fingerprint
///     std::uint64_t version() const;            of its meaning, for the fingerprint
///     bool draws() const;                       whether `draw` draws; default: whether Params has members
template <class S>
concept ImageStage = requires(const S& stage, const ImageShape& shape, Rng& rng, ImageOp& op) {
  { stage.compose(stage.draw(shape, rng), shape, op) } -> std::same_as<void>;
};

/// An image stage on `fields`, each u8 or u16 [H, W, C] with 1 to 4 channels, whose operations `executor` carries out:
/// one of one's own, which must live as long as the program. With the library's,
/// <penstock/transforms/image/stage.hpp>.
template <ImageStage S>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from; in a template the check does not see that
Stage image_stage(ImageFields fields, S stage, const ImageExecutor& executor) {
  if constexpr (detail::DrawsPlainParams<S>) {
    return detail::make_image_stage(std::move(fields), std::make_shared<detail::ImageStageOf<S>>(std::move(stage)),
                                    executor);
  } else {
    static_assert(detail::mistaken<S>,
                  "penstock: draw() of an image stage must return a trivially copyable struct of at most 64 bytes");
    return detail::make_image_stage(std::move(fields), nullptr, executor);
  }
}

/// What is no image stage: a compiler's error that says why.
template <class S>
Stage image_stage(ImageFields fields, S, const ImageExecutor& executor) {
  detail::explain_image_stage<S>();
  return detail::make_image_stage(std::move(fields), nullptr, executor);
}

}  // namespace penstock
