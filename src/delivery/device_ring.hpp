// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/error.hpp>

#include "device/device_model.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

/// Where the rows of a ragged field are on a device.
struct PackedField {
  std::size_t field = 0;
  std::byte* table = nullptr;  ///< i64 [N + 1]: the element with which each row begins
  std::byte* data = nullptr;
  std::int64_t elements = 0;
  const std::byte *staged_table = nullptr, *staged_data = nullptr;  ///< their copies in the host's memory
};

/// One device's part of a batch.
struct DevicePart {
  std::byte* data = nullptr;
  std::byte* rows = nullptr;  ///< its own memory for fields of any size, which grows
  std::size_t rows_bytes = 0;
  std::vector<PackedField> tables;                            ///< tables of its ragged fields
  std::unique_ptr<DeviceModel::Event> ready;                  ///< recorded after everything that was written to it
  std::vector<std::unique_ptr<DeviceModel::Event>> released;  ///< one per stream that used it
  std::size_t users = 0;                                      ///< how many of `released` belong to the last lease
  bool written = false;                                       ///< `ready` was recorded
  std::uint64_t first = 0;                                    ///< its first row's number in the batch
  BatchInfo own;  ///< what is known of its rows, if there are several devices
};

/// One batch's memory, on one device or shared out among several, and what is known about the batch.
struct DeviceBatch : BatchInfo {
  std::vector<DevicePart> parts;  ///< one per device
  std::size_t held = 0;           ///< how many of `parts` are leased. Under the ring's mutex
  bool lost = false;              ///< it is unknown what still uses one of `parts`. Under the ring's mutex
  bool captured = false;          ///< it was released while a graph was captured on a stream. Under the ring's mutex

  /// Returns what is known of this part.
  BatchInfo& info(std::size_t part) noexcept { return parts.size() == 1 ? *this : parts[part].own; }
};

using DeviceModels = std::vector<std::shared_ptr<DeviceModel>>;

/// Returns the names of the devices: "gpu 0", or "gpu 0 and gpu 1".
std::string names_of(const DeviceModels& devices);

/// The batches on devices. Each device has a balanced part of every batch. Leases keep the ring alive after their
/// loader is gone; the last owner waits for what still uses it. Any thread, unless a comment says otherwise.
class DeviceRing {
 public:
  /// Allocates memory and events for `depth` batches, and room for up to `most`. `memory`: memory of a single device;
  /// null: the device's own. `made`: layout of the batches as the runners make them. @throws Error(out_of_memory |
  /// device).
  DeviceRing(DeviceModels devices, std::shared_ptr<const PipelineData> data, const BatchLayout& made, unsigned depth,
             unsigned most, MemoryResource* memory = nullptr);
  DeviceRing(const DeviceRing&) = delete;
  DeviceRing& operator=(const DeviceRing&) = delete;
  ~DeviceRing();

  const DeviceModels& devices() const noexcept { return devices_; }
  /// Returns the memory of a device's batches.
  MemoryResource& memory(std::size_t part) const noexcept {
    return of_user_ != nullptr ? *of_user_ : devices_[part]->device_memory();
  }
  DeviceModel& device(std::size_t part) const noexcept { return *devices_[part]; }
  const PipelineData& data() const noexcept { return *data_; }
  /// Returns the layout of a device's part; `made_layout` is the layout of that part as the runners make it. They
  /// differ if there are stages after `batch`.
  const BatchLayout& layout() const noexcept { return layout_; }
  const BatchLayout& made_layout() const noexcept { return made_layout_; }
  /// Returns the most batches.
  std::size_t most() const noexcept { return most_; }

  // -- under `mutex` --
  using Lock = std::unique_lock<std::mutex>;
  /// Batches: their number, whether `grow` may add one, and whether one is free; `acquire` takes a free one.
  std::size_t depth(const Lock&) const noexcept { return buffers_.size(); }
  bool can_grow(const Lock&) const noexcept { return buffers_.size() < most_; }
  bool has_free(const Lock&) const noexcept { return !free_.empty(); }
  DeviceBatch& acquire(const Lock&) noexcept;
  /// Puts back a batch that is not leased.
  void put_back(const Lock&, DeviceBatch& buffer) noexcept;
  /// Leases all parts of the batch.
  void lease(const Lock&, DeviceBatch& buffer) noexcept;
  std::size_t leased(const Lock&) const noexcept { return leased_; }
  /// Sets the failure, unless there is one already; none: there was no memory for the error.
  void fail(const Lock&, std::optional<Error> error) noexcept;
  const std::optional<Error>& failure(const Lock&) const noexcept { return failure_; }
  /// Clears the failure, which was reported.
  void clear_failure(const Lock&);
  /// Reports lost buffers, once each. @throws Error(device); Error(unsupported) if a stream was being captured.
  void tell_of_lost(const Lock&);
  /// Returns the number of batches, without those that a failed device may still write to.
  std::size_t usable(const Lock&) const noexcept { return buffers_.size() - lost_; }

  // -- the caller's thread --
  /// Allocates memory for one more batch. Call without the lock, one thread at a time. @throws Error(out_of_memory |
  /// device); then the number stays the same.
  void grow();
  /// Ends the lease of a part: it is written again after the present work on these streams.
  void give_back(DeviceBatch& buffer, std::size_t part, std::span<const StreamRef> streams) noexcept;

  std::mutex mutex;  ///< guards everything here that changes; `changed` waits with it
  std::condition_variable changed;

 private:
  enum class LastUse : std::uint8_t { known, unknown, captured };
  static LastUse record_uses(DeviceModel& device, DevicePart& part, std::span<const StreamRef> streams) noexcept;
  struct Block {
    std::size_t device;
    std::byte* data;
    std::size_t bytes;
  };
  std::vector<std::unique_ptr<DeviceBatch>> make_buffers(unsigned count);
  void free_memory(std::size_t kept) noexcept;

  DeviceModels devices_;
  std::shared_ptr<const PipelineData> data_;
  BatchLayout layout_, made_layout_;
  const BatchLayout whole_;
  const std::size_t most_;
  MemoryResource* const of_user_;
  std::vector<Block> memory_;
  std::vector<std::unique_ptr<DeviceBatch>> buffers_;
  std::vector<DeviceBatch*> free_;
  std::size_t leased_ = 0, lost_ = 0, told_ = 0;  ///< `told_`: lost batches that were reported
  bool captured_ = false;                         ///< one of the unreported ones was captured
  std::optional<Error> failure_;
  std::optional<Error> spare_;  ///< made early, while there is memory
};

}  // namespace penstock::detail::runtime
