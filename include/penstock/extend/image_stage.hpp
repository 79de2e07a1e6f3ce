#pragma once

#include <concepts>

#include <penstock/extend/image_op.hpp>
#include <penstock/extend/rng.hpp>

namespace penstock {

/// A stage that draws parameters and says what it does to an image:
///
///     Params draw(const ImageShape&, Rng&) const;                          Params: a small plain struct
///     void compose(const Params&, const ImageShape&, ImageOp&) const;
///
/// and, where they make sense,
///
///     Shape schema(const Shape& in) const;      [H, W, C] of the result as far as it is known; default: as `in`
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

}  // namespace penstock
