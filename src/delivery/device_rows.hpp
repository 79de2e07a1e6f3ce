// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "delivery/device_ring.hpp"
#include "device/staging_memory.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

/// Carries fields whose rows differ in size to one device. Packs the rows one after the other into pinned memory, with
/// a table of the rows' beginnings for each ragged field. One copy moves all packed rows. DeviceLane copies the
/// other fields. The pinned memory and the memory on the device grow to the largest batch. One thread at a time may use
/// it, unless a comment says otherwise. The caller must have entered the device.
class DeviceRows {
 public:
  /// `whole`: layout of the engine's batches. `buffers`: number of the engine's buffers. `limit`: most bytes of a batch
  /// in pinned memory, and on the device. `option`: the user's option that sets the limit. All arguments must outlive
  /// this object.
  DeviceRows(DeviceRing& ring, std::size_t number, const BatchLayout& whole, std::size_t buffers, std::size_t limit,
             const char* option);
  DeviceRows(const DeviceRows&) = delete;
  DeviceRows& operator=(const DeviceRows&) = delete;
  /// REQUIRES: the device no longer reads the pinned memory.
  ~DeviceRows();

  /// Packs this device's rows of `from`, the batch in the engine's buffer `buffer`. Sets in `to` the addresses that the
  /// rows will have on the device. `from` and `to` may be the same object. @throws Error(out_of_memory) if the rows
  /// exceed the limit or memory runs out; Error(device).
  void pack(const BatchInfo& from, std::size_t buffer, DevicePart& part, BatchInfo& to);
  /// Returns the bytes that the last `pack` packed.
  std::size_t packed() const noexcept { return packed_; }
  /// Enqueues the copy of the rows of the last `pack` on `copies`, which must already wait for the part's users.
  /// Returns the copied bytes.
  /// @throws Error(device).
  std::size_t enqueue(std::size_t buffer, const DevicePart& part, StreamRef copies) const;

  /// Returns the bytes that were allocated on the device for the largest batch so far. Any thread.
  std::size_t capacity() const noexcept { return largest_.load(std::memory_order_relaxed); }
  /// Returns the bytes that were allocated in pinned memory for the largest batch so far. Any thread.
  std::size_t staged() const noexcept { return staged_.load(std::memory_order_relaxed); }
  /// See StagingMemory.
  std::string note() const { return staging_memory_.note(); }

 private:
  struct Staging {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  // Where one field is in the packed memory of a batch.
  struct Section {
    std::size_t field = 0, table = 0, data = 0;
    std::uint64_t bytes = 0;
  };
  std::size_t lay_out(const BatchInfo& from, const DevicePart& part, std::uint64_t rows);
  void make_room(std::size_t bytes, Staging& staging, DevicePart& part);
  void write(const BatchInfo& from, std::uint64_t rows, std::byte* staging, DevicePart& part, BatchInfo& to) const;

  DeviceRing& ring_;
  DeviceModel& device_;
  const std::size_t number_;
  const BatchLayout& whole_;
  const std::size_t limit_;
  const char* const option_;
  StagingMemory staging_memory_;
  std::vector<Staging> staging_;  // one element per buffer of the engine
  std::vector<Section> sections_;
  std::size_t packed_ = 0;  // bytes that the last `pack` packed
  std::atomic<std::size_t> largest_{0}, staged_{0};
};

}  // namespace penstock::detail::runtime
