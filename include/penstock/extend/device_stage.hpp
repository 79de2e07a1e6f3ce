#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>

#include <penstock/detail/device_stage_model.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/device.hpp>
#include <penstock/extend/batch_view.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

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
