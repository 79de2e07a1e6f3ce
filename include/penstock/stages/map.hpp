#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <penstock/class_names.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/detail/map_stage.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/detail/optional_member.hpp>
#include <penstock/detail/transform_model.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/shape.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `map`.
struct MapOptions {
  std::string name = "map";         ///< name of the stage in plans, errors and random keys
  std::string out = {};             ///< the field to write; default: the field that is read
  std::optional<Shape> shape = {};  ///< the result's shape; default: the input's, and where an `Output` decides it for
                                    ///< each sample, any: then it may say the dimensions that are known, {80, dynamic}
  std::uint64_t version = 0;  ///< result option: raise it when the callable's result changes
  ClassNames classes = {};    ///< what the numbers of the result stand for. A field that is written has no names
                              ///< of classes otherwise, as nobody knows what the callable did to its numbers
  bool keep_classes = false;  ///< the result's numbers stand for the same classes as those of the field it
                              ///< reads; then `classes` must be empty
};

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
  options.version +=
      detail::call_or(std::uint64_t{0}, PENSTOCK_MEMBER(version, "std::uint64_t version() const"), std::as_const(f));
  return detail::make_field_map(std::move(field), detail::field_map_model(std::move(f)), std::move(options));
}
/// An object on one field that takes fields of several dtypes or ranks; `options.shape` is left away.
template <TensorTransform F>
Stage map(std::string field, F f, MapOptions options = {}) {
  options.version +=
      detail::call_or(std::uint64_t{0}, PENSTOCK_MEMBER(version, "std::uint64_t version() const"), std::as_const(f));
  return detail::make_field_map(std::move(field), detail::field_map_model(std::move(f)), std::move(options));
}
/// What can't be called so: a compiler's error that says why.
template <class F>
Stage map(std::string, F, MapOptions = {}) {
  detail::explain_field_map<F>();
  return detail::make_map(nullptr);
}

}  // namespace penstock
