// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <penstock/detail/call_traits.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/detail/optional_member.hpp>
#include <penstock/extend/host_batch.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {
struct MapBatchesOptions;
}

namespace penstock::detail {

/// A callable of `map_batches`.
class PENSTOCK_API BatchMapModel {
 public:
  virtual ~BatchMapModel() = default;
  virtual void apply(HostBatch& batch) const = 0;
  virtual std::string describe() const { return {}; }
  virtual bool versioned() const { return false; }  ///< whether the callable has a version
};

template <class F>
class BatchMapOf final : public BatchMapModel {
 public:
  explicit BatchMapOf(F f) : f_(std::move(f)) {}
  void apply(HostBatch& batch) const override { f_(batch); }
  std::string describe() const override {
    return call_or(BatchMapModel::describe(), PENSTOCK_MEMBER(describe, "std::string describe() const"), f_);
  }
  bool versioned() const override {
    return requires { f_.version(); };
  }

 private:
  F f_;
};

/// Fails to compile with the reason why `map_batches(f)` can't take an `f` of type F.
template <class F>
constexpr void explain_batch_map() {
  if constexpr (requires(const F& f, HostBatch& batch) { f(batch); })
    static_assert(mistaken<F>,
                  "penstock: what map_batches() calls must return nothing; it changes the HostBatch that it is given");
  else if constexpr (requires(F & f, HostBatch & batch) { f(batch); })
    static_assert(
        mistaken<F>,
        "penstock: the call operator of what map_batches() takes must be const, as several threads call it at "
        "once (a lambda must not be mutable); what it draws comes from the batch's rng()");
  else
    static_assert(mistaken<F>,
                  "penstock: map_batches() takes something to call with a whole batch: [](HostBatch& batch) {...}");
}

PENSTOCK_API Stage make_map_batches(std::shared_ptr<const BatchMapModel> model, MapBatchesOptions options);

}  // namespace penstock::detail
