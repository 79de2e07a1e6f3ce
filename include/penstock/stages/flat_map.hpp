// SPDX-License-Identifier: Apache-2.0
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

/// Makes any number of samples (children) from one sample (the parent): the crops of an image, or the windows of a
/// recording.
///
///     std::uint32_t count(const Sample& parent, Context&) const;       number of children, 0 or more
///     void child(const Sample& parent, std::uint32_t number, Sample& out, Context&) const;
///                                                                      number counts from 0
///
/// Optional members:
///
///     Schema schema(const Schema& in) const;       of a child; default: the parent's
///     std::string name() const;                    in plans, errors and random keys; default "flat_map"
///     std::uint64_t version() const;               result option: raise it when the result changes
///
/// Any thread may call `count` and `child` at any time. Several threads may do so for one parent at the same time. If
/// the parent has a field with the name, dtype and rank of a child's field, the child's field begins as a view of the
/// parent's value. The value is copied when `child` writes to it. Other fields are unset until `child` emplaces them.
/// In `child`, the context's place has the number of the child. The draws of `count` are separate from those of
/// `child`.
template <class F>
concept FlatMap = requires(const F& f, const Sample& parent, std::uint32_t number, Sample& out, Context& context) {
  { f.count(parent, context) } -> std::convertible_to<std::uint32_t>;
  { f.child(parent, number, out, context) } -> std::same_as<void>;
};

/// Replaces every sample by its children, in order. Several runners may make children of one parent in parallel. A
/// parent is read, and goes through the stages before this one, only once. A pipeline has at most one `flat_map`;
/// orders must stand before it. The number of an epoch's samples is known only after the epoch, so
/// `Pipeline::steps_per_epoch` throws unless `for_rank` sets the number of batches. `pipeline | MyFlatMap{}` does the
/// same as `pipeline | flat_map(MyFlatMap{})`.
template <FlatMap F>
Stage flat_map(F f) {
  return detail::make_flat_map(std::shared_ptr<const detail::FlatMapModel>(new detail::FlatMapOf<F>(std::move(f))));
}

/// Overload for types that are not flat maps: fails to compile with the reason.
template <class F>
Stage flat_map(F) {
  detail::explain_flat_map<F>();
  return detail::make_flat_map(nullptr);
}

}  // namespace penstock
