#pragma once

#include <string>
#include <vector>

#include <penstock/loader.hpp>

#include "delivery/device_ring.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/memory_plan.hpp"

namespace penstock::detail::runtime {

/// What runs the devices of a loader; none where the buffers that the runners fill are the batches.
/// @throws Error(invalid_argument | unsupported).
DeviceModels open_devices(const PipelineData& data, const LoaderOptions& options);

/// @throws Error(invalid_argument) where `steps_per_epoch` was said and can't be, or no batch can ever come.
void check_steps(const PipelineData& data);

/// Threads for a loader, where it has no executor of others. @throws as `Executor`.
Executor own_executor(const LoaderOptions& options);

/// What its memory is for, on an executor of so many threads. Refers to `data`.
/// @throws Error(unsupported) for fields that don't travel to a device.
MemoryRequest memory_request(const PipelineData& data, const LoaderOptions& options, unsigned threads,
                             const DeviceModels& devices);

/// For each step after `batch`, whether it decodes and all devices do that; where one does not, runners decode, and
/// `notes` say so. @throws what `ImageDecoder::start_batches` does, with the stage.
std::vector<bool> decodes_on_devices(const PipelineData& data, const DeviceModels& devices,
                                     std::vector<std::string>& notes);

}  // namespace penstock::detail::runtime
