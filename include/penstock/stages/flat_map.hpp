#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include <penstock/detail/flat_map_model.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Makes any number of samples, its children, of one, the parent: the crops of an image, the windows of a recording.
///
///     std::uint32_t count(const Sample& parent, Context&) const;       how many; 0 = none
///     void child(const Sample& parent, std::uint32_t number, Sample& out, Context&) const;
///                                                                      number counts from 0
///
/// and where they make sense
///
///     Schema schema(const Schema& in) const;       of a child; default: the parent's
///     std::string name() const;                    in plans, errors and random keys; default "flat_map"
///     std::uint64_t version() const;               result option: raise it when the result changes
///
/// Any thread calls both at any time, for one parent also at once. A field that a child has with the parent's dtype and
/// rank begins as the parent's value (which is viewed, and copied where the child writes to it); others are unset
/// until `child` emplaces them. The context's place says which child it is; `count` has draws of its own.
template <class F>
concept FlatMap = requires(const F& f, const Sample& parent, std::uint32_t number, Sample& out, Context& context) {
  { f.count(parent, context) } -> std::convertible_to<std::uint32_t>;
  { f.child(parent, number, out, context) } -> std::same_as<void>;
};

/// Replaces every sample by its children, in order. They are made by all runners at once, of a parent that is read
/// and brought through the stages before this one a single time. A pipeline has one at most; orders stand before it.
/// How many samples an epoch has is known only after it (`Pipeline::steps_per_epoch` throws). `pipeline | MyFlatMap{}`
/// does the same.
template <FlatMap F>
Stage flat_map(F f) {
  return detail::make_flat_map(std::shared_ptr<const detail::FlatMapModel>(new detail::FlatMapOf<F>(std::move(f))));
}

/// What is no flat map: a compiler's error that says why.
template <class F>
Stage flat_map(F) {
  detail::explain_flat_map<F>();
  return detail::make_flat_map(nullptr);
}

}  // namespace penstock
