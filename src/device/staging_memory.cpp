// SPDX-License-Identifier: Apache-2.0
#include "device/staging_memory.hpp"

#include <utility>

namespace penstock::detail {

StagingMemory::StagingMemory(std::shared_ptr<DeviceModel> device) : device_(std::move(device)) {}

void* StagingMemory::allocate(std::size_t bytes, std::size_t align) {
  std::string why;
  try {
    return device_->pinned_memory().allocate(bytes, align);
  } catch (const CannotPin& error) {
    why = error.cause();
  }
  const std::lock_guard lock(mutex_);
  // The entry for `ordinary_` is made first, so that nothing can fail after the memory is taken.
  std::set<void*> made;
  auto entry = made.extract(made.insert(nullptr).first);
  entry.value() = host_memory().allocate(bytes, align);
  void* const data = entry.value();
  ordinary_.insert(std::move(entry));
  why_ = std::move(why);
  return data;
}

void StagingMemory::deallocate(void* data, std::size_t bytes, std::size_t align) noexcept {
  bool ordinary = false;
  {
    const std::lock_guard lock(mutex_);
    ordinary = ordinary_.erase(data) != 0;
  }
  (ordinary ? host_memory() : device_->pinned_memory()).deallocate(data, bytes, align);
}

std::string StagingMemory::note() const {
  const std::lock_guard lock(mutex_);
  if (why_.empty()) return {};
  return "memory for batches on the host could not be pinned (" + why_ + "), so copies to " +
         to_string(device_->device()) +
         " are from ordinary memory, and several times slower; raise `ulimit -l`, or lower `depth`";
}

}  // namespace penstock::detail
