// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/loader.hpp>

#include "delivery/device_ring.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/memory_plan.hpp"

namespace penstock::detail::runtime {

/// Opens the devices of a loader. Returns none if the caller gets the buffers that the runners fill. @throws
/// Error(invalid_argument | unsupported).
DeviceModels open_devices(const PipelineData& data, const LoaderOptions& options);

/// @throws Error(invalid_argument) if `steps_per_epoch` is set and can't be reached, or if no batch can ever be
/// delivered.
void check_steps(const PipelineData& data);

/// Creates the threads of a loader that has no shared executor. @throws like `Executor`.
Executor own_executor(const LoaderOptions& options);

/// Returns the loader's needs of memory, on an executor of `threads` threads. The result refers to `data`. @throws
/// Error(unsupported) if a field can't be copied to a device.
MemoryRequest memory_request(const PipelineData& data, const LoaderOptions& options, unsigned threads,
                             const DeviceModels& devices);

/// Returns, for each step after `batch`, whether devices do its decoding. If one device can't decode, runners decode
/// for all devices, and a note is added to `notes`. @throws whatever `ImageDecoder::start_batches` throws, with the
/// stage.
std::vector<bool> decodes_on_devices(const PipelineData& data, const DeviceModels& devices,
                                     std::vector<std::string>& notes);

}  // namespace penstock::detail::runtime
