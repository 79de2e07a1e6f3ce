// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <penstock/extend/device_stage.hpp>
#include <penstock/report.hpp>

#include "delivery/device_decode.hpp"
#include "delivery/device_ring.hpp"
#include "delivery/timed_work.hpp"
#include "device/device_model.hpp"
#include "pipeline/device_program.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

/// Runs the stages after `batch` on a device. They turn a raw batch into a batch of the device's ring. A raw batch is a
/// copy of the host's batch, or the host's batch itself if the device is the host. Has the memory of raw batches and of
/// values between stages, and a stream. One thread at a time may use it.
class DeviceStages {
 public:
  /// `memory`: memory of the device. `raw`: layout of the batch before the stages. `delivered`: layout after the
  /// stages. `images_limit`: most bytes of decoded images per batch. `verifies`: whether runners decode all images
  /// instead of the device. The arguments must outlive this object. @throws Error(limit_exceeded | out_of_memory |
  /// device), and whatever decoders throw.
  DeviceStages(std::shared_ptr<DeviceModel> device, MemoryResource& memory,
               std::shared_ptr<const DeviceProgram> program, const BatchLayout& raw, const BatchLayout& delivered,
               std::size_t images_limit, bool verifies);
  DeviceStages(const DeviceStages&) = delete;
  DeviceStages& operator=(const DeviceStages&) = delete;
  ~DeviceStages();

  /// Returns the bytes that the stages need on a device in addition to the ring. Decoded images are not counted.
  /// @throws Error(limit_exceeded).
  static std::size_t bytes(const DeviceProgram& program, const BatchLayout& raw, bool on_host);

  /// Returns the stream on which batches become ready.
  StreamRef stream() const noexcept { return prep_->ref(); }
  /// Returns the memory of a raw batch to which the host's batch must be copied on `copies`. If the device is the host,
  /// returns `from`. @throws Error(device).
  std::byte* begin(const std::byte* from, StreamRef copies);
  /// Returns the stream on which rows that differ in size must be copied to the part.
  StreamRef rows_stream(StreamRef copies) const noexcept { return raws_.empty() ? stream() : copies; }
  /// The host's batch: its memory, its layout, and the number of the part's first row.
  struct HostBatch {
    const std::byte* data;
    const BatchLayout& layout;
    std::uint64_t first;
  };
  /// Enqueues the stages that make `to` from `begun`, the memory that `begin` returned. `stream()` must already wait
  /// for the users of `to`. Records `copied` after the last read of the host's batch, and times the stages. @throws
  /// Error(device), or whatever a stage throws; the error names the stage.
  void finish(std::byte* begun, const HostBatch& from, DeviceModel::Event& copied, DevicePart& to, std::uint64_t rows,
              StreamRef copies, TimedWork& stages_time);
  /// Forgets all enqueued work. Call after a failure, when the device is idle.
  void forget() noexcept;

  void describe(Report& report) const;

 private:
  struct Raw {
    std::byte* data = nullptr;
    std::unique_ptr<DeviceModel::Event> read;  // recorded after the stages that read the raw batch
    bool used = false;
  };
  // Where a field is before or after a stage.
  struct FieldLocation {
    enum class In : std::uint8_t { raw, rows, decoded, between, delivered } in = In::raw;
    // `offset`: where the field begins. If `in` is `rows`, this is the field's number instead. If `in` is `decoded`, it
    // is the launch's number. `row_bytes`: bytes of a row; 0 if `in` is `rows` or `decoded`.
    std::size_t offset = 0, row_bytes = 0;
    DType dtype = DType::u8;
    Shape row;
  };
  struct Launch {
    const DeviceStep* step;
    std::vector<FieldLocation> in, out;
    std::vector<TensorView> in_views, out_views, in_offsets, out_offsets;
    FieldLocation draws;
    std::unique_ptr<DeviceDecode> decode;  // set for a step that decodes
    DeviceDecode::Images images;           // result of `decode`
  };
  static constexpr std::size_t raw_batches = 2;

  void plan();
  void run_stages(std::byte* raw, const HostBatch& from, DevicePart& to, std::uint64_t rows);
  void decode(Launch& launch, const HostBatch& from, const DevicePart& to, std::uint64_t rows);
  void run(Launch& launch, std::byte* raw, const DevicePart& to, std::uint64_t rows);
  TensorView view(const FieldLocation& where, std::byte* raw, const DevicePart& to, std::uint64_t rows) const;
  void set_views(const std::vector<FieldLocation>& wheres, std::byte* raw, const DevicePart& to, std::uint64_t rows,
                 std::vector<TensorView>& views, std::vector<TensorView>& offsets) const;

  std::shared_ptr<DeviceModel> device_;
  std::shared_ptr<const DeviceProgram> program_;
  const BatchLayout& raw_layout_;
  const BatchLayout& delivered_layout_;
  std::unique_ptr<DeviceModel::Stream> prep_;
  std::vector<Raw> raws_;  // empty if the device is the host, where stages read the host's batch itself
  std::size_t next_ = 0;
  MemoryResource& resource_;
  std::byte* memory_ = nullptr;  // memory of the raw batches, and of the values between stages
  std::size_t memory_bytes_ = 0, between_bytes_ = 0;
  std::byte* between_ = nullptr;
  std::vector<Launch> launches_;
  // For each field that no stage changes, except ragged fields: where it is in the raw batch, and where it is in the
  // delivered batch.
  std::vector<std::pair<FieldLocation, FieldLocation>> kept_;
};

}  // namespace penstock::detail::runtime
