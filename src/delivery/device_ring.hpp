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
  std::byte* table = nullptr;  ///< i64 [N + 1]: number of each row's first element, and the number of all elements
  std::byte* data = nullptr;
  std::int64_t elements = 0;
  /// Where `table` and `data` are in the host's memory.
  const std::byte *staged_table = nullptr, *staged_data = nullptr;
};

/// One device's part of a batch.
struct DevicePart {
  std::byte* data = nullptr;
  std::byte* rows = nullptr;  ///< memory for fields whose rows differ in size; grows when needed
  std::size_t rows_bytes = 0;
  std::vector<PackedField> tables;            ///< the ragged fields
  std::unique_ptr<DeviceModel::Event> ready;  ///< recorded after all writes to the part
  /// Recorded on the streams that used the part. Has at least one element per stream of the last lease.
  std::vector<std::unique_ptr<DeviceModel::Event>> released;
  std::size_t users = 0;    ///< how many elements of `released` the last lease recorded
  bool written = false;     ///< `ready` was recorded
  std::uint64_t first = 0;  ///< number of the part's first row in the batch
  BatchInfo own;            ///< what is known about the part's rows; used only if there are several devices
};

/// One batch on one device, or divided among several devices, and what is known about it.
struct DeviceBatch : BatchInfo {
  std::vector<DevicePart> parts;  ///< one part per device
  std::size_t held = 0;           ///< how many parts are leased; guarded by the ring's mutex
  bool lost = false;              ///< it is unknown which work still uses a part; guarded by the ring's mutex
  /// A part was released while its stream was captured into a graph; guarded by the ring's mutex.
  bool captured = false;

  /// Returns the facts about a part.
  BatchInfo& info(std::size_t part) noexcept { return parts.size() == 1 ? *this : parts[part].own; }
};

using DeviceModels = std::vector<std::shared_ptr<DeviceModel>>;

/// Returns the names of the devices: "gpu 0", or "gpu 0 and gpu 1".
std::string names_of(const DeviceModels& devices);

/// The batches on devices. Each device has a balanced part of every batch. Leases keep the ring alive after their
/// loader was destroyed. The destructor waits for work that still uses batches. Any thread may call the functions,
/// unless a comment says otherwise.
class DeviceRing {
 public:
  /// Allocates memory and events for `depth` batches. `grow` can add batches up to `most`. `memory`: memory for a
  /// single device; null: the devices' own memory. `made`: layout of batches before the stages after `batch`. @throws
  /// Error(limit_exceeded | out_of_memory | device).
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
  /// Returns the layout of a device's part. `made_layout` returns the part's layout before the stages after `batch`.
  const BatchLayout& layout() const noexcept { return layout_; }
  const BatchLayout& made_layout() const noexcept { return made_layout_; }
  /// Returns the largest number of batches.
  std::size_t most() const noexcept { return most_; }

  // -- under `mutex` --
  using Lock = std::unique_lock<std::mutex>;
  /// `depth`: number of batches. `can_grow`: whether `grow` may add a batch. `has_free`: whether a batch is free.
  /// `acquire` takes a free batch.
  std::size_t depth(const Lock&) const noexcept { return buffers_.size(); }
  bool can_grow(const Lock&) const noexcept { return buffers_.size() < most_; }
  bool has_free(const Lock&) const noexcept { return !free_.empty(); }
  DeviceBatch& acquire(const Lock&) noexcept;
  /// Makes a batch free. The batch must not be leased.
  void put_back(const Lock&, DeviceBatch& buffer) noexcept;
  /// Leases all parts of the batch.
  void lease(const Lock&, DeviceBatch& buffer) noexcept;
  std::size_t leased(const Lock&) const noexcept { return leased_; }
  /// Sets the failure if no failure is set yet. `error` is none if there was no memory for the error. Then the failure
  /// is an error that was made in advance.
  void fail(const Lock&, std::optional<Error> error) noexcept;
  const std::optional<Error>& failure(const Lock&) const noexcept { return failure_; }
  /// Clears the failure. Call after the failure was reported.
  void clear_failure(const Lock&);
  /// Throws if batches were lost that no earlier call has reported. If all batches are lost, every call throws. @throws
  /// Error(device), or Error(unsupported) if a stream was captured.
  void tell_of_lost(const Lock&);
  /// Returns the number of batches that are not lost.
  std::size_t usable(const Lock&) const noexcept { return buffers_.size() - lost_; }

  // -- without `mutex` --
  /// Adds a batch. Call without the lock, one thread at a time. @throws Error(out_of_memory | device), and adds no
  /// batch in this case.
  void grow();
  /// Ends the lease of a part. The part is not written again before the present work on these streams is done.
  void give_back(DeviceBatch& buffer, std::size_t part, std::span<const StreamRef> streams) noexcept;

  /// Guards all members that change, except `memory_`, which only `grow` changes. `changed` is used with this mutex.
  std::mutex mutex;
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
  bool captured_ = false;                         ///< a capture lost a batch, and this must be reported
  std::optional<Error> failure_;
  std::optional<Error> spare_;  ///< made in advance, in case memory for an error is missing later
};

}  // namespace penstock::detail::runtime
