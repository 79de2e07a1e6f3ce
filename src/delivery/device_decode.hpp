// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/memory.hpp>
#include <penstock/tensor.hpp>

#include "delivery/device_ring.hpp"
#include "device/device_model.hpp"
#include "device/staging_memory.hpp"
#include "image/decode_op.hpp"
#include "pipeline/device_program.hpp"

namespace penstock::detail::runtime {

/// One decoding stage after `batch`, on one device. Has memory for the images that the device decodes, which grows to
/// the largest batch. Has a table of where each image begins, also for the images that runners decoded. One thread
/// at a time may use it. The caller must have entered the device.
class DeviceDecode {
 public:
  /// `limit`: most bytes of a batch's images. `verifies`: whether runners decode all images. `memory` must outlive this
  /// object. @throws Error(out_of_memory | device), and whatever the decoder throws.
  DeviceDecode(std::shared_ptr<DeviceModel> device, MemoryResource& memory, const DeviceStep& step, std::uint64_t rows,
               std::size_t limit, bool verifies);
  DeviceDecode(const DeviceDecode&) = delete;
  DeviceDecode& operator=(const DeviceDecode&) = delete;
  /// REQUIRES: no work on the device reads this object's memory.
  ~DeviceDecode();

  /// Image r begins at `data` + `offsets`[r], which may be anywhere on the device.
  struct Images {
    TensorView data, offsets;
    MemoryUse decoded;  ///< which part of this object's memory the batch uses
  };
  /// Enqueues on `prep` the decoding of the images that `ops` gives to the device. There is memory for the images of
  /// two batches, and the decoder may overwrite the older images at once. So the call first waits on the host until
  /// stages have read the older images. `files`, `pixels`: the packed fields of the part.
  Images enqueue(const DecodeOp* ops, const PackedField& files, const PackedField& pixels, std::uint64_t rows,
                 StreamRef prep);
  /// Call after all work that reads the images of the last `enqueue` was enqueued on `prep`.
  void read(StreamRef prep);
  /// Forgets the enqueued work. Call after a failure, when the device is idle.
  void forget() noexcept;

  /// Returns how many images the host decoded because the device refused their batches. Any thread.
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  /// Returns the bytes that were allocated for the decoded images of the largest batch so far. Any thread.
  std::size_t capacity() const noexcept { return largest_.load(std::memory_order_relaxed); }
  static constexpr unsigned buffers = 2;
  /// Returns the bytes of the table of image addresses for `rows` rows.
  static std::size_t table_bytes(std::uint64_t rows) noexcept;

 private:
  struct Buffer {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::int64_t* staged = nullptr;  // the table in pinned memory
    std::byte* table = nullptr;
    std::byte* host = nullptr;  // pinned memory of images that the device refused
    std::size_t host_bytes = 0;
    std::unique_ptr<DeviceModel::Event> read;
    bool used = false;
  };
  void make_room(Buffer& buffer, std::size_t bytes);
  void decode_on_host(Buffer& buffer, std::size_t bytes, StreamRef prep);
  void free_host_images(Buffer& buffer) noexcept;
  void free_memory() noexcept;

  std::shared_ptr<DeviceModel> device_;
  MemoryResource& memory_;
  StagingMemory pinned_;
  const std::size_t limit_, table_bytes_;
  const std::shared_ptr<const ImageDecoder> decoder_;
  std::unique_ptr<BatchDecoding> decoding_;  // null if runners decode all images, or the device can't decode
  std::atomic<std::uint64_t> refused_{0};
  std::array<Buffer, buffers> buffers_;
  std::size_t next_ = 0;
  std::atomic<std::size_t> largest_{0};
  std::vector<BatchDecoding::Image> images_;
};

}  // namespace penstock::detail::runtime
