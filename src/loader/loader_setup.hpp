// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/loader.hpp>

#include "delivery/device_ring.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/memory_plan.hpp"

namespace penstock::detail::runtime {

/// Opens the devices of a loader. Returns an empty list if the caller gets the buffers that the runners fill.
/// @throws Error(invalid_argument) if the options contradict each other; and what `open_device` throws.
DeviceModels open_devices(const PipelineData& data, const LoaderOptions& options);

/// Checks that the pipeline may deliver a batch. @throws Error(invalid_argument) if `steps_per_epoch` is set but there
/// are no samples, or if no batch can ever be delivered.
void check_steps(const PipelineData& data);

/// Checks that each device gets an even number of rows of every batch, if a stage mixes neighbouring rows.
/// @throws Error(unsupported) if not.
void check_neighbours(const PipelineData& data, const DeviceModels& devices);

/// Creates the threads of a loader that has no shared executor. @throws like `Executor`.
Executor own_executor(const LoaderOptions& options);

/// Returns what memory the loader needs on an executor of `threads` threads. `data` must outlive the result.
/// @throws Error(unsupported) if a field can't be copied to a device.
MemoryRequest memory_request(const PipelineData& data, const LoaderOptions& options, unsigned threads,
                             const DeviceModels& devices);

/// Returns, for each step after `batch`, whether devices do its decoding. Returns an empty list if there are no such
/// steps, or with `verify`. If one device can't decode, runners decode for all devices. If that device is not the host,
/// adds a note to `notes`. @throws what `ImageDecoder::start_batches` throws, with the stage.
std::vector<bool> decodes_on_devices(const PipelineData& data, const DeviceModels& devices,
                                     std::vector<std::string>& notes);

}  // namespace penstock::detail::runtime
