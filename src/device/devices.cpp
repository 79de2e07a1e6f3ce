// SPDX-License-Identifier: Apache-2.0
#include "device/devices.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/device_stage.hpp>
#include <penstock/extend/float_mode.hpp>
#include <penstock/memory.hpp>

#include "device/cuda/cuda.hpp"

namespace penstock::detail {

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<DeviceModel>> devices;
};

Registry& registry() {
  static Registry& all = *new Registry;  // never destroyed, because loaders in static storage may still use it
  return all;
}

}  // namespace

void register_device(const std::shared_ptr<DeviceModel>& device) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.devices, [](const auto& known) { return known.expired(); });
  all.devices.push_back(device);
}

std::shared_ptr<DeviceModel> open_device(Device device) {
  if (device.kind == Device::Kind::host) return nullptr;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& known : all.devices)
    if (auto model = known.lock(); model != nullptr && model->device() == device) return model;
  if (device.kind == Device::Kind::emulated)
    throw Error(Errc::unsupported, "there is no " + to_string(device) +
                                       " any more: keep the EmulatedGpu as long as "
                                       "loaders are made for it");
  std::shared_ptr<DeviceModel> opened = open_cuda(device.index);
  std::erase_if(all.devices, [](const auto& known) { return known.expired(); });
  all.devices.push_back(opened);
  return opened;
}

void DeviceModel::launch_on_host(StreamRef, const char* name, std::function<void()>, std::initializer_list<MemoryUse>) {
  throw Error(Errc::unsupported, "work of the host's can't stand on a stream of " + to_string(device()) +
                                     ", which runs kernels: give this stage one, or use an EmulatedGpu or host()")
      .with_stage(name);
}

}  // namespace penstock::detail

namespace penstock {

std::shared_ptr<MemoryResource> device_memory(Device device) {
  if (device == host()) return {std::shared_ptr<MemoryResource>(), &host_memory()};
  const auto model = detail::open_device(device);
  return {model, &model->device_memory()};
}
std::shared_ptr<MemoryResource> pinned_memory(Device device) {
  if (device == host()) return {std::shared_ptr<MemoryResource>(), &host_memory()};
  const auto model = detail::open_device(device);
  return {model, &model->pinned_memory()};
}

void launch_on_host(StreamRef stream, const char* name, std::function<void()> work,
                    std::initializer_list<MemoryUse> uses) {
  auto in_standard_mode = [work = std::move(work)] {
    const FloatMode standard;
    work();
  };
  if (stream.device() == host()) return in_standard_mode();
  detail::open_device(stream.device())->launch_on_host(stream, name, std::move(in_standard_mode), uses);
}

}  // namespace penstock
