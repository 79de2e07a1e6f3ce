// SPDX-License-Identifier: Apache-2.0
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

/// A custom stage after `batch`. It works on whole batches, on the device where the loader delivers them. A stage has
///
///     Schema schema(const Schema& in) const;
///         Fields of one row of the result. All shapes are fixed.
///     void run(BatchView in, BatchView out, StreamRef stream) const;
///         Enqueues its work on `stream` and returns without waiting.
///
/// On a GPU's stream, `run` launches a kernel (`interop/cuda.hpp` gives the cudaStream_t). On a stream of the host
/// or of an EmulatedGpu, `run` calls `launch_on_host`. The loader makes the device current before it calls `run`. One
/// thread calls `run`, for one batch after another (see `in_place` for the exception). `run` must write all new fields,
/// all fields whose type changes, and all fields that `writes` names. Each other field has the same memory in `in` and
/// `out`. A stage may also have
///
///     Draws draw(Rng& rng) const;
///         Returns a plain struct of at most 64 bytes for one row.
///     std::vector<std::string> writes() const;
///         Fields that the stage makes although their type stays the same.
///     std::string name() const;
///         Default: "device_stage".
///     std::string describe() const;
///         The stage's result options, for plan() and the fingerprint.
///     std::uint64_t version() const;
///         Version of what the stage does, for the fingerprint.
///     bool mixes_rows() const;
///         Whether a row's result depends on another row: its neighbour, r ^ 1 in row r of the view. Default: false.
///     bool in_place() const;
///         Whether `run` may write where it reads: the fields that it writes have the same memory in `in` and `out`.
///         Default: false.
///
/// If all stages after `batch` work in place, make no new field, and change no type, a loader on the host needs no
/// second buffer. Its runners then call `run`, several at the same time, each for its own batch; after a `map_batches`
/// on the caller's thread, that thread calls it. This holds if all rows of each field have one size.
///
/// If a stage mixes rows, the number of ranks is part of the fingerprint. On several devices, a loader then refuses
/// batches of which a device would get an odd number of rows. So neighbours are always on one device.
///
/// Any thread calls `draw`, on the host, once per sample. The drawn numbers do not depend on the number of threads. If
/// `run` throws, the epoch ends after the earlier batches, and the next epoch begins as usual.
template <class S>
concept DeviceStage = requires(const S& stage, const Schema& schema, BatchView in, BatchView out, StreamRef stream) {
  { stage.schema(schema) } -> std::convertible_to<Schema>;
  { stage.run(in, out, stream) } -> std::same_as<void>;
};

/// Puts work for the host on a stream. On the host's own stream, `work` runs immediately. On an EmulatedGpu's stream,
/// it runs when the stream reaches it. `work` must neither wait nor call the device. `uses` is for a checked
/// EmulatedGpu.
/// @throws Error(unsupported) on a GPU's stream, which runs only kernels; Error(device) if a call of the device fails.
PENSTOCK_API void launch_on_host(StreamRef stream, const char* name, std::function<void()> work,
                                 std::initializer_list<MemoryUse> uses = {});

/// Makes a stage of a custom device stage, to be put after `batch`.
template <DeviceStage S>
Stage device_stage(S stage) {
  if constexpr (detail::explain_device_members<S>())
    return detail::make_device_stage(std::make_shared<detail::DeviceStageOf<S>>(std::move(stage)));
  else
    return detail::make_device_stage(nullptr);
}

/// Overload for types that are not device stages: fails to compile with the reason.
template <class S>
Stage device_stage(S) {
  detail::explain_device_stage<S>();
  return detail::make_device_stage(nullptr);
}

/// Makes a `map` on a field of fixed shape that may be put before or after `batch`. Before `batch` it calls `f` on one
/// sample's value. After `batch` it runs `on_batches`, which does the same to whole batches, and whose `writes()` names
/// the field that `f` writes. `f` draws from its Context's `rng()`; `on_batches` draws in `draw(Rng&)`. Both get the
/// same numbers. So the batches are the same wherever the stage is. `f` and `options` are those of `map` with a field.
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

/// Adds a custom device stage to a pipeline, like `device_stage(stage)`.
template <DeviceStage S>
Pipeline operator|(const Pipeline& pipeline, S stage) {
  return pipeline | device_stage(std::move(stage));
}

}  // namespace penstock
