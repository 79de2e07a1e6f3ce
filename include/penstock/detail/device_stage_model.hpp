// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/detail/callable_adapter.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/detail/optional_member.hpp>
#include <penstock/device.hpp>
#include <penstock/extend/batch_view.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock::detail {

class PENSTOCK_API DeviceStageModel {
 public:
  static constexpr std::size_t max_draws = 64;
  virtual ~DeviceStageModel() = default;
  virtual Schema schema(const Schema& in) const = 0;
  virtual void run(BatchView in, BatchView out, StreamRef stream) const = 0;
  virtual std::size_t draw_bytes() const = 0;  ///< 0: the stage draws nothing
  virtual void draw(Rng& rng, void* draws) const = 0;
  virtual std::vector<std::string> writes() const = 0;
  virtual std::string name() const { return "device_stage"; }
  virtual std::string describe() const { return {}; }
  virtual std::uint64_t version() const { return 0; }
  virtual bool mixes_rows() const { return false; }  ///< whether a row's result depends on other rows
  virtual bool in_place() const { return false; }    ///< whether `run` may write where it reads
};

template <class S>
class DeviceStageOf final : public CallableOf<S, DeviceStageModel> {
  static constexpr bool draws = requires(const S& stage, Rng& rng) { stage.draw(rng); };

 public:
  using CallableOf<S, DeviceStageModel>::CallableOf;
  void run(BatchView in, BatchView out, StreamRef stream) const override { this->f_.run(in, out, stream); }
  std::size_t draw_bytes() const override {
    if constexpr (draws) {
      using Draws = std::remove_cvref_t<decltype(this->f_.draw(std::declval<Rng&>()))>;
      return sizeof(Draws);
    } else {
      return 0;
    }
  }
  void draw(Rng& rng, void* to) const override {
    if constexpr (draws) ::new (to) auto(this->f_.draw(rng));
  }
  std::vector<std::string> writes() const override {
    return call_or(std::vector<std::string>(), PENSTOCK_MEMBER(writes, "std::vector<std::string> writes() const"),
                   this->f_);
  }
  std::string describe() const override {
    return call_or(DeviceStageModel::describe(), PENSTOCK_MEMBER(describe, "std::string describe() const"), this->f_);
  }
  bool mixes_rows() const override {
    return call_or(false, PENSTOCK_MEMBER(mixes_rows, "bool mixes_rows() const"), this->f_);
  }
  bool in_place() const override {
    return call_or(false, PENSTOCK_MEMBER(in_place, "bool in_place() const"), this->f_);
  }
};

PENSTOCK_API Stage make_device_stage(std::shared_ptr<const DeviceStageModel> model);

/// True if the stage has no `draw` that can be called. If it has one, true if `draw` is const and returns a plain
/// struct that is small enough.
template <class S>
concept DrawsPlainStruct = !requires(S & stage, Rng& rng) {
  stage.draw(rng);
}
|| requires(const S& stage, Rng& rng) {
  requires std::is_trivially_copyable_v<std::remove_cvref_t<decltype(stage.draw(rng))>>;
  requires sizeof(stage.draw(rng)) <= DeviceStageModel::max_draws;
  requires alignof(std::remove_cvref_t<decltype(stage.draw(rng))>) <= DeviceStageModel::max_draws;
};

template <class S>
constexpr bool explain_device_members() {
  if constexpr (
      requires(S & stage, Rng & rng) { stage.draw(rng); } && !requires(const S& stage, Rng& rng) { stage.draw(rng); })
    static_assert(mistaken<S>, "penstock: draw() of a device stage must be const: any thread calls it");
  else if constexpr (!DrawsPlainStruct<S>)
    static_assert(mistaken<S>,
                  "penstock: draw() of a device stage must return a trivially copyable struct of at most 64 bytes");
  else if constexpr (
      requires(S & stage) { stage.writes(); } && !requires(const S& stage) { stage.writes(); })
    static_assert(mistaken<S>, "penstock: writes() of a device stage must be const");
  else
    return true;
  return false;
}

}  // namespace penstock::detail
