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
  const std::byte *staged_table = nullptr, *staged_data = nullptr;  ///< the same in the host's memory
};

/// What one device has of a batch.
struct DevicePart {
  std::byte* data = nullptr;
  std::byte* rows = nullptr;  ///< memory of its own for fields of any size, which grows
  std::size_t rows_bytes = 0;
  std::vector<PackedField> tables;                            ///< tables of its ragged fields
  std::unique_ptr<DeviceModel::Event> ready;                  ///< recorded after all that was written to it
  std::vector<std::unique_ptr<DeviceModel::Event>> released;  ///< one for each stream that used it
  std::size_t users = 0;                                      ///< how many of `released` belong to the last lease
  bool written = false;                                       ///< `ready` was recorded
  std::uint64_t first = 0;                                    ///< row of the batch that is its first
  BatchInfo own;  ///< what is known of its rows, where there are several devices
};

/// One batch's memory, on one device or shared out among several, and what is known about it.
struct DeviceBatch : BatchInfo {
  std::vector<DevicePart> parts;  ///< one for each device
  std::size_t held = 0;           ///< how many of `parts` are leased. Under the ring's mutex
  bool lost = false;              ///< what still uses one of `parts` is not known. Under the ring's mutex
  bool captured = false;          ///< it was let go while a graph was captured on a stream. Under the ring's mutex

  /// What is known of what this part has.
  BatchInfo& info(std::size_t part) noexcept { return parts.size() == 1 ? *this : parts[part].own; }
};

using DeviceModels = std::vector<std::shared_ptr<DeviceModel>>;

/// "gpu 0", or "gpu 0 and gpu 1".
std::string names_of(const DeviceModels& devices);

/// The batches on devices, each of which has a balanced part of every batch. Leases keep it alive beyond their loader;
/// whoever goes last waits for what still uses it. Any thread, but as said.
class DeviceRing {
 public:
  /// Takes memory (of the only device from `memory`, where that is given) and events of `depth` batches, and room to
  /// have `most`. `made`: the layout of the batches that the runners make. @throws Error(out_of_memory | device).
  DeviceRing(DeviceModels devices, std::shared_ptr<const PipelineData> data, const BatchLayout& made, unsigned depth,
             unsigned most, MemoryResource* memory = nullptr);
  DeviceRing(const DeviceRing&) = delete;
  DeviceRing& operator=(const DeviceRing&) = delete;
  ~DeviceRing();

  const DeviceModels& devices() const noexcept { return devices_; }
  /// Where a device's batches lie.
  MemoryResource& memory(std::size_t part) const noexcept {
    return of_user_ != nullptr ? *of_user_ : devices_[part]->device_memory();
  }
  DeviceModel& device(std::size_t part) const noexcept { return *devices_[part]; }
  const PipelineData& data() const noexcept { return *data_; }
  /// The layout of a device's part, and of that part as the runners make it: they differ where there are stages after
  /// `batch`.
  const BatchLayout& layout() const noexcept { return layout_; }
  const BatchLayout& made_layout() const noexcept { return made_layout_; }
  /// Batches there can be.
  std::size_t most() const noexcept { return most_; }

  // -- under `mutex` --
  using Lock = std::unique_lock<std::mutex>;
  /// Batches there are, and of each device's memory those that wait for nobody: more of them are had by `grow`.
  std::size_t depth(const Lock&) const noexcept { return buffers_.size(); }
  bool can_grow(const Lock&) const noexcept { return buffers_.size() < most_; }
  bool has_free(const Lock&) const noexcept { return !free_.empty(); }
  DeviceBatch& acquire(const Lock&) noexcept;
  /// One that nobody has leased.
  void put_back(const Lock&, DeviceBatch& buffer) noexcept;
  /// All its parts.
  void lease(const Lock&, DeviceBatch& buffer) noexcept;
  std::size_t leased(const Lock&) const noexcept { return leased_; }
  /// The first failure there was; none where there was no memory to say it.
  void fail(const Lock&, std::optional<Error> error) noexcept;
  const std::optional<Error>& failure(const Lock&) const noexcept { return failure_; }
  /// It was told.
  void clear_failure(const Lock&);
  /// Once for each buffer that was lost. @throws Error(device); Error(unsupported) where a stream was being captured.
  void tell_of_lost(const Lock&);
  /// All there are, but those that a failed device may write to still.
  std::size_t usable(const Lock&) const noexcept { return buffers_.size() - lost_; }

  // -- the caller's thread --
  /// Takes memory for one more batch; without the lock. One thread at a time. @throws Error(out_of_memory | device),
  /// and then there are as many as before.
  void grow();
  /// The lease of a part ends: it is written to again after what these streams have in work now.
  void give_back(DeviceBatch& buffer, std::size_t part, std::span<const StreamRef> streams) noexcept;

  std::mutex mutex;  ///< guards all that changes here; `changed` waits with it
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
  std::size_t leased_ = 0, lost_ = 0, told_ = 0;  ///< told: of the lost
  bool captured_ = false;                         ///< one of those that are still to be told of was
  std::optional<Error> failure_;
  std::optional<Error> spare_;  ///< made while there is memory to
};

}  // namespace penstock::detail::runtime
