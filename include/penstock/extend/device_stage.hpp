#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include <penstock/detail/device_stage_model.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/detail/map_stage.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/detail/optional_member.hpp>
#include <penstock/detail/transform_model.hpp>
#include <penstock/device.hpp>
#include <penstock/extend/batch_view.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/map.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// A stage of one's own after `batch`, which works on whole batches where the loader's batches end up:
///
///     Schema schema(const Schema& in) const;          of one row, all shapes fixed
///     void run(BatchView in, BatchView out, StreamRef stream) const;
///
/// `run` enqueues its work on `stream` and returns without waiting: a kernel on a GPU's (`interop/cuda.hpp` gives its
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

/// `map` on a field of fixed shape that may stand on either side of `batch`: before it as `f`, a callable on one
/// sample's value; after it as `on_batches`, which does the same to whole batches, and whose `writes()` names what `f`
/// writes. Both get the same numbers, `f` from its Context's `rng()`, `on_batches` in `draw(Rng&)`, so that where it
/// stands changes no byte. What is said of `map` with a field holds for `f` and `options`.
template <class F, DeviceStage S>
Stage map(std::string field, F f, S on_batches, MapOptions options = {}) {
  if constexpr (!detail::explain_device_members<S>()) {
    return detail::make_map(nullptr);
  } else if constexpr (FieldTransform<F> || TensorTransform<F>) {
    options.version +=
        detail::call_or(std::uint64_t{0}, PENSTOCK_MEMBER(version, "std::uint64_t version() const"), std::as_const(f));
    return detail::make_field_map(std::move(field), detail::field_map_model(std::move(f)), std::move(options),
                                  std::make_shared<detail::DeviceStageOf<S>>(std::move(on_batches)));
  } else {
    detail::explain_field_map<F>();
    return detail::make_map(nullptr);
  }
}

/// A device stage of one's own needs no wrapper: as `device_stage(stage)`.
template <DeviceStage S>
Pipeline operator|(const Pipeline& pipeline, S stage) {
  return pipeline | device_stage(std::move(stage));
}

}  // namespace penstock
