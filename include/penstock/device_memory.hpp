#pragma once

#include <memory>

#include <penstock/device.hpp>
#include <penstock/export.hpp>
#include <penstock/memory.hpp>

namespace penstock {

/// A device's own memory, from a pool of penstock's: what loaders take their batches from. Behind a LimitResource it is
/// a limit that several loaders share (`LoaderOptions::device_resource`). Of the host: its memory. Any thread; the
/// device stays open as long as it is kept. @throws Error(unsupported) that says why there is no such device.
PENSTOCK_API std::shared_ptr<MemoryResource> device_memory(Device device);

/// Memory of the host that the device reads by itself: what loaders for it take their batch buffers from. Any thread;
/// the device stays open as long as it is kept. @throws Error(unsupported) that says why there is no such device.
PENSTOCK_API std::shared_ptr<MemoryResource> pinned_memory(Device device);

}  // namespace penstock
