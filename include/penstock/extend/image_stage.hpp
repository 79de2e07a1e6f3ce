// SPDX-License-Identifier: Apache-2.0
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

/// A stage that draws parameters and describes what to do to an image. It has
///
///     Params draw(const ImageShape&, Rng&) const;
///         Params is a small plain struct.
///     void compose(const Params&, const ImageShape&, ImageOp&) const;
///
/// and may have
///
///     Shape schema(const Shape& in) const;
///         [H, W, C] of the result, as far as it is known. Default: `in`.
///     Shape schema(const Shape& in, DType& dtype) const;
///         Instead of the other `schema`, for a stage whose result has another dtype than the field. `dtype` is the
///         field's dtype, and the function sets it to the result's. `compose` then calls `ImageOp::convert`.
///     bool resamples() const;
///         Whether the stage may resize. Default: false. If true, a field of 16 bits that is not resampled by nearest
///         is refused when the stage joins a pipeline. If false, a resize of such a field is an error of each sample.
///     std::string name() const;
///         Default: "image_stage".
///     std::string describe() const;
///         The stage's result options, for plan() and the fingerprint. Default: "".
///     std::uint64_t version() const;
///         Version of what the stage does, for the fingerprint. Default: 0.
///     bool draws() const;
///         Whether `draw` draws numbers. Default: whether Params has members.
///     const BoxConversion& box_conversion() const;
///         What the stage does to boxes that follow its image. Default: it moves them as `compose` moves the image.
template <class S>
concept ImageStage = requires(const S& stage, const ImageShape& shape, Rng& rng, ImageOp& op) {
  { stage.compose(stage.draw(shape, rng), shape, op) } -> std::same_as<void>;
};

/// Turns the custom image stage `stage` into a Stage for pipelines. The stage changes `fields`, each u8 or u16 [H, W,
/// C] with 1 to 4 channels. `executor` executes the operations, and must live as long as the program. For the library's
/// executor, use <penstock/transforms/image/stage.hpp>.
template <ImageStage S>
// NOLINTNEXTLINE(performance-unnecessary-value-param): `stage` is moved from, which the check does not see
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

/// Overload for types that are not image stages: fails to compile with the reason.
template <class S>
Stage image_stage(ImageFields fields, S, const ImageExecutor& executor) {
  detail::explain_image_stage<S>();
  return detail::make_image_stage(std::move(fields), nullptr, executor);
}

}  // namespace penstock
