#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/device.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// The fields of a whole batch, on a device: each tensor is [N, ...], contiguous, at a multiple of 256 bytes. Owns
/// nothing: the view is valid while `run` is called, the memory after it until what that enqueued is done.
struct BatchView {
  const Schema* schema = nullptr;      ///< of one row
  std::span<const TensorView> fields;  ///< in the schema's order; of a padded field [N, `to`, ...], whatever the
                                       ///< schema says of its first dimension
  std::uint64_t rows = 0;              ///< N
  const std::byte* draws = nullptr;    ///< [N]: what `draw` gave for each row, on the device; zeros where its mask is 0

  /// @throws Error(schema_mismatch) that lists the fields there are.
  TensorView operator[](std::string_view field) const { return fields[schema->slot(field)]; }
};

/// A stage of one's own after `batch`, which works on whole batches where the loader's batches end up:
///
///     Schema schema(const Schema& in) const;          of one row, all shapes fixed
///     void run(BatchView in, BatchView out, StreamRef stream) const;
///
/// `run` enqueues its work on `stream` and returns without waiting: a kernel on a GPU's (`cuda/stream.hpp` gives its
/// cudaStream_t), `launch_on_host` on that of the host or of an EmulatedGpu. One thread of the loader's calls it, batch
/// after batch, that device chosen. Fields that the result has and `in` has not, or with another type, are the stage's
/// to make; the others are the same memory in both, unless `writes` names them. And, where they make sense,
///
///     Draws draw(Rng& rng) const;                     a plain struct of at most 64 bytes for each row
///     std::vector<std::string> writes() const;        fields it makes although their type stays as it is
///     std::string name() const;                       default "device_stage"
///     std::string describe() const;                   its result options, for plan() and the fingerprint
///     std::uint64_t version() const;                  of its meaning, for the fingerprint
///
/// `draw` is called on the host, by any thread, once for each sample: the same numbers at any number of threads. An
/// exception of `run` ends the epoch after the batches before, and the next epoch begins as ever.
template <class S>
concept DeviceStage = requires(const S& stage, const Schema& schema, BatchView in, BatchView out, StreamRef stream) {
  { stage.schema(schema) } -> std::convertible_to<Schema>;
  { stage.run(in, out, stream) } -> std::same_as<void>;
};

/// Puts work of the host's on a stream: at once on the host's own, when the stream comes to it on an EmulatedGpu's. It
/// must neither wait nor call the device. `uses` is for a checked EmulatedGpu. @throws Error(unsupported) on a GPU's
/// stream, which runs kernels; Error(device).
PENSTOCK_API void launch_on_host(StreamRef stream, const char* name, std::function<void()> work,
                                 std::initializer_list<MemoryUse> uses = {});

namespace detail {

class PENSTOCK_API DeviceStageModel {
 public:
  static constexpr std::size_t max_draws = 64;
  virtual ~DeviceStageModel() = default;
  virtual Schema schema(const Schema& in) const = 0;
  virtual void run(BatchView in, BatchView out, StreamRef stream) const = 0;
  virtual std::size_t draw_bytes() const = 0;  ///< 0: it draws nothing
  virtual void draw(Rng& rng, void* draws) const = 0;
  virtual std::vector<std::string> writes() const = 0;
  virtual std::string name() const { return "device_stage"; }
  virtual std::string describe() const { return {}; }
  virtual std::uint64_t version() const { return 0; }
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
    if constexpr (requires {
                    { this->f_.writes() } -> std::convertible_to<std::vector<std::string>>;
                  })
      return this->f_.writes();
    else
      return {};
  }
  std::string describe() const override {
    if constexpr (requires {
                    { this->f_.describe() } -> std::convertible_to<std::string>;
                  })
      return this->f_.describe();
    else
      return {};
  }
};

PENSTOCK_API Stage make_device_stage(std::shared_ptr<const DeviceStageModel> model);

/// What `draw` gives, where the stage has one that can be called, is a plain struct that is small enough.
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

}  // namespace detail

/// A device stage of one's own as a stage; stands after `batch`.
template <DeviceStage S>
Stage device_stage(S stage) {
  if constexpr (detail::explain_device_members<S>())
    return detail::make_device_stage(std::make_shared<detail::DeviceStageOf<S>>(std::move(stage)));
  else
    return detail::make_device_stage(nullptr);
}

/// What is no device stage: a compiler's error that says why.
template <class S>
Stage device_stage(S) {
  detail::explain_device_stage<S>();
  return detail::make_device_stage(nullptr);
}

/// It needs no wrapper.
template <DeviceStage S>
Pipeline operator|(const Pipeline& pipeline, S stage) {
  return pipeline | device_stage(std::move(stage));
}

}  // namespace penstock
