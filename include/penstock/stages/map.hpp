// SPDX-License-Identifier: Apache-2.0
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
  std::string name = "map";  ///< name of the stage in plans, errors and random keys
  std::string out = {};      ///< the field to write. Default (empty): the field that is read
  /// The result's shape. Default: the input's shape. If the callable sets each sample's shape through an `Output`, all
  /// dimensions vary by default. Then `shape` may fix some of them, for instance {80, dynamic}.
  std::optional<Shape> shape = {};
  std::uint64_t version = 0;  ///< result option: raise the version when the callable's result changes
  /// Names of the classes that the result's numbers stand for. Default: none, because the callable may change the
  /// meaning of the numbers.
  ClassNames classes = {};
  /// Whether the result's numbers stand for the same classes as the field that is read. If true, `classes` must be
  /// empty.
  bool keep_classes = false;
};

/// Makes a stage that runs a transform on whole samples. `pipeline | MyTransform{}` does the same as `pipeline |
/// map(MyTransform{})`.
template <Transform F>
Stage map(F f) {
  return detail::make_map(std::shared_ptr<const detail::TransformModel>(new detail::TransformOf<F>(std::move(f))));
}
/// Overload for types that are not transforms: fails to compile with the reason.
template <class F>
Stage map(F) {
  detail::explain_stage<F>();
  return detail::make_map(nullptr);
}

/// Runs a callable on one field:
///     map("image", [](View<const std::uint8_t, 3> in, View<float, 3> out) { … })
/// reads the field "image" in place, and writes the new value to the place from which the next stage or the batch reads
/// it. If the result's shape depends on the sample,
///     map("audio", [](View<const float, 1> in, Output<float, 2> out) { auto bins = out.emplace({frames(in), 80}); … })
/// makes a field of varying shape, for `ragged`, `pad`, or a stage that gives it a fixed shape.
/// Checks dtypes and ranks against the schema when the stage joins a pipeline. Optional members of the callable:
/// - `void check(const Shape& in) const` throws Error(schema_mismatch) for shapes that the callable can't take.
/// - `std::string describe() const` returns its result options, which become part of the fingerprint.
/// - `std::uint64_t version() const` returns a number that is added to `options.version`. The sum is part of the
///   fingerprint too.
template <FieldTransform F>
Stage map(std::string field, F f, MapOptions options = {}) {
  options.version +=
      detail::call_or(std::uint64_t{0}, PENSTOCK_MEMBER(version, "std::uint64_t version() const"), std::as_const(f));
  return detail::make_field_map(std::move(field), detail::field_map_model(std::move(f)), std::move(options));
}
/// Runs an object on one field. The object can take fields of several dtypes or ranks. `options.shape` must not be set.
template <TensorTransform F>
Stage map(std::string field, F f, MapOptions options = {}) {
  options.version +=
      detail::call_or(std::uint64_t{0}, PENSTOCK_MEMBER(version, "std::uint64_t version() const"), std::as_const(f));
  return detail::make_field_map(std::move(field), detail::field_map_model(std::move(f)), std::move(options));
}
/// Overload for objects that can't be called in any of these ways: fails to compile with the reason.
template <class F>
Stage map(std::string, F, MapOptions = {}) {
  detail::explain_field_map<F>();
  return detail::make_map(nullptr);
}

}  // namespace penstock
