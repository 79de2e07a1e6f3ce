// SPDX-License-Identifier: Apache-2.0
#include "delivery/device_ring.hpp"

#include <string>
#include <utility>

#include "base/failure.hpp"
#include "pipeline/rank_rows.hpp"

namespace penstock::detail::runtime {

std::string names_of(const DeviceModels& devices) {
  std::string names;
  for (std::size_t i = 0; i < devices.size(); ++i)
    names += (i == 0 ? "" : i + 1 == devices.size() ? " and " : ", ") + to_string(devices[i]->device());
  return names;
}

DeviceRing::DeviceRing(DeviceModels devices, std::shared_ptr<const PipelineData> data, const BatchLayout& made,
                       unsigned depth, unsigned most, MemoryResource* memory)
    : devices_(std::move(devices)),
      data_(std::move(data)),
      layout_(data_->delivered(), max_rows_of_device(made.rows(), devices_.size())),
      made_layout_(data_->schema, max_rows_of_device(made.rows(), devices_.size())),
      whole_(made),
      most_(most),
      of_user_(memory) {
  static_cast<void>(layout_.bytes_of_ring(most, "device_depth"));
  spare_.emplace(no_memory());
  free_.reserve(most);
  buffers_.reserve(most);
  memory_.reserve(devices_.size() * (most - depth + 1));
  for (auto& buffer : make_buffers(depth)) {
    free_.push_back(buffer.get());
    buffers_.push_back(std::move(buffer));
  }
}

// Makes `count` batches. On each device, one block of memory has the parts of all these batches.
std::vector<std::unique_ptr<DeviceBatch>> DeviceRing::make_buffers(unsigned count) {
  std::vector<std::unique_ptr<DeviceBatch>> buffers;
  for (unsigned i = 0; i < count; ++i) {
    buffers.push_back(std::make_unique<DeviceBatch>());
    whole_.prepare(*buffers.back());
    buffers.back()->parts.resize(devices_.size());
  }
  const std::size_t blocks = memory_.size(), bytes = layout_.bytes() * count;
  try {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const DeviceGuard entered(*devices_[d]);
      for (const auto& buffer : buffers) {
        DevicePart& part = buffer->parts[d];
        if (devices_.size() > 1) made_layout_.prepare(part.own);
        part.ready = devices_[d]->make_event();
        part.released.push_back(devices_[d]->make_event());
      }
      if (bytes == 0) continue;
      auto* const data = static_cast<std::byte*>(memory(d).allocate(bytes, BatchLayout::field_alignment));
      memory_.push_back({d, data, bytes});
      for (unsigned i = 0; i < count; ++i) buffers[i]->parts[d].data = data + i * layout_.bytes();
    }
  } catch (...) {
    free_memory(blocks);
    throw;
  }
  return buffers;
}

void DeviceRing::grow() {
  auto buffers = make_buffers(1);
  const Lock lock(mutex);
  buffers_.push_back(std::move(buffers[0]));
  put_back(lock, *buffers_.back());
}

// No lease is left, so every use of a batch was recorded, except uses of lost batches. If batches are lost, waits for
// the whole device. If this wait fails, memory is never freed, because work may still write to it.
DeviceRing::~DeviceRing() {
  bool known = true;
  for (std::size_t d = 0; d < devices_.size(); ++d) try {
      const DeviceGuard entered(*devices_[d]);
      if (lost_ != 0) known = devices_[d]->settle() && known;
      for (const auto& buffer : buffers_) {
        DevicePart& part = buffer->parts[d];
        for (std::size_t i = 0; i < part.users; ++i) devices_[d]->synchronize(*part.released[i]);
        part.ready.reset();
        part.released.clear();
      }
    } catch (...) {  // the device failed and has no work in progress
    }
  if (!known) return;
  for (const auto& buffer : buffers_)
    for (std::size_t d = 0; d < devices_.size(); ++d)
      if (const DevicePart& part = buffer->parts[d]; part.rows != nullptr)
        memory(d).deallocate(part.rows, part.rows_bytes, BatchLayout::field_alignment);
  free_memory(0);
}

// Frees all blocks except the first `kept` blocks.
void DeviceRing::free_memory(std::size_t kept) noexcept {
  for (; memory_.size() > kept; memory_.pop_back()) {
    const Block& block = memory_.back();
    memory(block.device).deallocate(block.data, block.bytes, BatchLayout::field_alignment);
  }
}

// Returns the buffer that has been free for the longest time, because work on it ends first. The caller runs ahead of
// the device, so a lease ends long before the work on its streams. A copy into the buffer of the last lease would wait
// for all this work.
DeviceBatch& DeviceRing::acquire(const Lock&) noexcept {
  DeviceBatch& buffer = *free_.front();
  free_.erase(free_.begin());
  return buffer;
}

void DeviceRing::put_back(const Lock&, DeviceBatch& buffer) noexcept {
  free_.push_back(&buffer);
  changed.notify_all();
}

void DeviceRing::lease(const Lock&, DeviceBatch& buffer) noexcept {
  buffer.held = buffer.parts.size();
  ++leased_;
}

void DeviceRing::fail(const Lock&, std::optional<Error> error) noexcept {
  if (!failure_) failure_ = std::move(error ? error : spare_);
  if (!error) spare_.reset();
  changed.notify_all();
}

void DeviceRing::clear_failure(const Lock&) {
  if (!spare_) spare_ = no_memory();
  failure_.reset();
}

void DeviceRing::tell_of_lost(const Lock&) {
  const bool all = lost_ == most_;
  if (told_ == lost_ && !all) return;
  told_ = lost_;
  const bool captured = std::exchange(captured_, captured_ && all);
  throw Error(
      captured ? Errc::unsupported : Errc::device,
      (captured ? "a batch was let go while its stream was being captured into a graph, so it can't be told when "
                  "its memory may be written to, and no other batch will use it; let batches go before the "
                  "capture begins or after it ended, or take them with next_into; "
                : "the device failed where leases of batches ended: what still uses their memory is not "
                  "known, so no other batch will; ") +
          std::to_string(most_ - lost_) + " of " + std::to_string(most_) + " batches are left" +
          (all ? ": make another loader" : ""));
}

// Uses on a stream that is captured can't be recorded. An event on the stream would become part of the graph, and work
// that waits for the event would be captured too. Waiting for the stream would make the capture invalid.
DeviceRing::LastUse DeviceRing::record_uses(DeviceModel& device, DevicePart& part,
                                            std::span<const StreamRef> streams) noexcept {
  part.users = 0;
  if (streams.empty()) return LastUse::known;
  // If recording an event fails, waits for the streams, which has the same effect but takes longer.
  for (const bool waits : {false, true}) try {
      const DeviceGuard entered(device);
      for (const StreamRef stream : streams)
        if (device.captures(stream)) return LastUse::captured;
      for (const StreamRef stream : streams)
        if (waits) {
          device.synchronize(stream);
        } else {
          device.record(*part.released[part.users], stream);
          ++part.users;
        }
      return LastUse::known;
    } catch (...) {
      part.users = 0;
    }
  return LastUse::unknown;
}

void DeviceRing::give_back(DeviceBatch& buffer, std::size_t part, std::span<const StreamRef> streams) noexcept {
  const LastUse use = record_uses(*devices_[part], buffer.parts[part], streams);
  const Lock lock(mutex);
  buffer.lost = buffer.lost || use != LastUse::known;
  buffer.captured = buffer.captured || use == LastUse::captured;
  if (--buffer.held != 0) return;
  --leased_;
  if (!buffer.lost) return put_back(lock, buffer);
  ++lost_;
  captured_ = captured_ || buffer.captured;
  changed.notify_all();
}

}  // namespace penstock::detail::runtime
