// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>

#include <penstock/detail/call_traits.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {
struct MapOptions;
}

namespace penstock::detail {

class DeviceStageModel;
class FieldMapModel;
class TransformModel;

/// Fails to compile with the reason why `map("field", f)` can't take an `f` of type F.
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
/// Makes the stage. `on_batches` does the same as `model` to whole batches, with the same draws, for fields of fixed
/// shape. With `on_batches`, the stage may also be put after `batch`. `on_batches->writes()` names the field that the
/// stage writes.
PENSTOCK_API Stage make_field_map(std::string field, std::shared_ptr<const FieldMapModel> model, MapOptions options,
                                  std::shared_ptr<const DeviceStageModel> on_batches = nullptr);

}  // namespace penstock::detail
