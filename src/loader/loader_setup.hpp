// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/loader.hpp>

#include "delivery/device_ring.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/memory_plan.hpp"

namespace penstock::detail::runtime {

/// Opens the devices of a loader; none if the buffers that the runners fill are the batches. @throws
/// Error(invalid_argument | unsupported).
DeviceModels open_devices(const PipelineData& data, const LoaderOptions& options);

/// @throws Error(invalid_argument) if `steps_per_epoch` is set and can't be reached, or no batch can ever come.
void check_steps(const PipelineData& data);

/// Creates the threads of a loader that has no shared executor. @throws like `Executor`.
Executor own_executor(const LoaderOptions& options);

/// Returns what the loader's memory is for, on an executor of `threads` threads. Refers to `data`. @throws
/// Error(unsupported) if a field can't go to a device.
MemoryRequest memory_request(const PipelineData& data, const LoaderOptions& options, unsigned threads,
                             const DeviceModels& devices);

/// Returns, for each step after `batch`, whether it decodes and all devices do the decoding. If a device can't, runners
/// decode, and `notes` says so. @throws what `ImageDecoder::start_batches` throws, with the stage.
std::vector<bool> decodes_on_devices(const PipelineData& data, const DeviceModels& devices,
                                     std::vector<std::string>& notes);

}  // namespace penstock::detail::runtime
