#include "device_ring.hpp"

#include <string>
#include <utility>

#include "failure.hpp"

namespace penstock::detail {

DeviceRing::DeviceRing(std::shared_ptr<DeviceModel> device, std::shared_ptr<const PipelineData> data,
                       const BatchLayout& made, unsigned depth)
    : device_(std::move(device)), data_(std::move(data)), layout_(data_->delivered(), made.rows()), made_layout_(made) {
  const Entered entered(*device_);
  const std::size_t bytes = layout_.bytes_of_ring(depth, "device_depth");
  spare_.emplace(no_memory());
  free_.reserve(depth);
  slots_.reserve(depth);
  for (unsigned i = 0; i < depth; ++i) {
    auto slot = std::make_unique<DeviceSlot>();
    made_layout_.prepare(*slot);
    slot->ready = device_->make_event();
    slot->released.push_back(device_->make_event());
    slots_.push_back(std::move(slot));
    free_.push_back(slots_.back().get());
  }
  if (bytes == 0) return;
  memory_ = static_cast<std::byte*>(device_->device_memory().allocate(bytes, BatchLayout::field_alignment));
  for (unsigned i = 0; i < depth; ++i) slots_[i]->data = memory_ + i * layout_.bytes();
}

// No lease is left, so every use was recorded.
DeviceRing::~DeviceRing() {
  try {
    const Entered entered(*device_);
    for (const auto& slot : slots_)
      for (std::size_t i = 0; i < slot->users; ++i) device_->synchronize(*slot->released[i]);
    free_memory();
    slots_.clear();
  } catch (...) {
    free_memory();  // a device that failed has no work in hand
  }
}

void DeviceRing::free_memory() noexcept {
  if (memory_ != nullptr)
    device_->device_memory().deallocate(memory_, layout_.bytes() * depth(), BatchLayout::field_alignment);
  memory_ = nullptr;
}

DeviceSlot& DeviceRing::acquire(const Lock&) noexcept {
  DeviceSlot& slot = *free_.back();
  free_.pop_back();
  return slot;
}

void DeviceRing::put_back(const Lock&, DeviceSlot& slot) noexcept {
  free_.push_back(&slot);
  changed.notify_all();
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
  if (told_ == lost_ && lost_ != slots_.size()) return;
  told_ = lost_;
  throw Error(Errc::device,
              "the device failed where leases of batches ended: what still uses their memory is not "
              "known, so no other batch will; " +
                  std::to_string(slots_.size() - lost_) + " of " + std::to_string(slots_.size()) + " batches are left" +
                  (lost_ == slots_.size() ? ": make another loader" : ""));
}

// False: the device failed, and what still uses the slot is not known.
bool DeviceRing::record_uses(DeviceSlot& slot, std::span<const StreamRef> streams) noexcept {
  slot.users = 0;
  if (streams.empty()) return true;
  try {
    const Entered entered(*device_);
    for (const StreamRef stream : streams) {
      device_->record(*slot.released[slot.users], stream);
      ++slot.users;
    }
    return true;
  } catch (...) {
    slot.users = 0;
  }
  // Waiting takes longer, and is as good.
  try {
    const Entered entered(*device_);
    for (const StreamRef stream : streams) device_->synchronize(stream);
    return true;
  } catch (...) {
    return false;
  }
}

void DeviceRing::give_back(DeviceSlot& slot, std::span<const StreamRef> streams) noexcept {
  const bool known = record_uses(slot, streams);
  const Lock lock(mutex);
  --leased_;
  if (known) return put_back(lock, slot);
  ++lost_;
  changed.notify_all();
}

}  // namespace penstock::detail
