// SPDX-License-Identifier: Apache-2.0
#include "delivery/device_decode.hpp"

#include <algorithm>
#include <utility>

#include <penstock/error.hpp>

#include "data/decode_whole.hpp"
#include "data/scratch.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

namespace {

constexpr std::size_t image_alignment = BatchLayout::field_alignment;

std::size_t aligned_room(std::size_t bytes) {
  return (bytes + image_alignment - 1) / image_alignment * image_alignment;
}

std::size_t aligned_image(const DecodeOp& op) {
  return aligned_room(static_cast<std::size_t>(op.height) * static_cast<std::size_t>(op.width) *
                      static_cast<std::size_t>(op.channels));
}

}  // namespace

DeviceDecode::DeviceDecode(std::shared_ptr<DeviceModel> device, MemoryResource& memory, const DeviceStep& step,
                           std::uint64_t rows, std::size_t limit, bool verifies)
    : device_(std::move(device)),
      memory_(memory),
      pinned_(device_),
      limit_(limit),
      table_bytes_(table_bytes(rows)),
      decoder_(step.decoder),
      decoding_(verifies ? nullptr : step.decoder->start_batches(device_->device())) {
  try {
    for (Buffer& buffer : buffers_) {
      buffer.read = device_->make_event();
      buffer.staged = static_cast<std::int64_t*>(pinned_.allocate(table_bytes_, image_alignment));
      buffer.table = static_cast<std::byte*>(memory_.allocate(table_bytes_, image_alignment));
    }
  } catch (...) {
    free_memory();
    throw;
  }
}

DeviceDecode::~DeviceDecode() {
  decoding_.reset();
  free_memory();
}

void DeviceDecode::free_memory() noexcept {
  for (Buffer& buffer : buffers_) {
    free_host_images(buffer);
    if (buffer.data != nullptr) memory_.deallocate(buffer.data, buffer.bytes, image_alignment);
    if (buffer.table != nullptr) memory_.deallocate(buffer.table, table_bytes_, image_alignment);
    if (buffer.staged != nullptr) pinned_.deallocate(buffer.staged, table_bytes_, image_alignment);
  }
}

std::size_t DeviceDecode::table_bytes(std::uint64_t rows) noexcept {
  return aligned_room(static_cast<std::size_t>(rows + 1) * sizeof(std::int64_t));
}

void DeviceDecode::make_room(Buffer& buffer, std::size_t bytes) {
  if (bytes > limit_)
    throw Error(Errc::out_of_memory, "the decoded images of the batch need " + std::to_string(bytes) + " bytes, and " +
                                         std::to_string(limit_) +
                                         " are left for images of any size; raise `max_device_bytes`, or lower "
                                         "`device_depth` or the batch size");
  if (bytes <= buffer.bytes) return;
  const std::size_t had = std::exchange(buffer.bytes, 0);
  if (buffer.data != nullptr) memory_.deallocate(std::exchange(buffer.data, nullptr), had, image_alignment);
  const std::size_t room = std::min(limit_, std::max(bytes, had + had / 4));
  buffer.data = static_cast<std::byte*>(memory_.allocate(room, image_alignment));
  buffer.bytes = room;
  if (room > capacity()) largest_.store(room, std::memory_order_relaxed);
}

DeviceDecode::Images DeviceDecode::enqueue(const DecodeOp* ops, const PackedField& files, const PackedField& pixels,
                                           std::uint64_t rows, StreamRef prep) {
  Buffer& buffer = buffers_[next_];
  if (buffer.used) device_->synchronize(*buffer.read);
  free_host_images(buffer);
  std::size_t bytes = 0;
  for (std::uint64_t r = 0; r < rows; ++r)
    if (ops[r].by == DecodeOp::By::device) bytes += aligned_image(ops[r]);
  make_room(buffer, bytes);
  const auto* const file_table = reinterpret_cast<const std::int64_t*>(files.staged_table);
  const auto* const pixel_table = reinterpret_cast<const std::int64_t*>(pixels.staged_table);
  device_->host_writes(buffer.staged, table_bytes_);
  images_.clear();
  std::byte* at = buffer.data;
  for (std::uint64_t r = 0; r < rows; ++r) {
    buffer.staged[r] = pixel_table[r];
    if (ops[r].by != DecodeOp::By::device) continue;
    const auto encoded = static_cast<std::size_t>(file_table[r + 1] - file_table[r]);
    images_.push_back(
        {{files.staged_data + file_table[r], encoded}, {ops[r].height, ops[r].width, ops[r].channels}, at});
    // The two addresses are in different blocks of memory, so they are subtracted as numbers.
    buffer.staged[r] =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(pixels.data));
    at += aligned_image(ops[r]);
  }
  buffer.staged[rows] = 0;
  device_->copy(buffer.table, buffer.staged, static_cast<std::size_t>(rows + 1) * sizeof(std::int64_t), prep);
  if (!images_.empty() && decoding_ == nullptr)
    throw Error(Errc::unsupported, "the decoder had batches for the device when it was asked first, and none now");
  if (!images_.empty() && !decoding_->decode(images_, prep)) decode_on_host(buffer, bytes, prep);
  return {{pixels.data, DType::u8, Shape{pixels.elements}},
          {buffer.table, DType::i64, Shape{static_cast<std::int64_t>(rows) + 1}},
          {buffer.data, bytes, false}};
}

// The images are placed as in the device's memory, so that one copy moves all of them.
void DeviceDecode::decode_on_host(Buffer& buffer, std::size_t bytes, StreamRef prep) {
  buffer.host = static_cast<std::byte*>(pinned_.allocate(bytes, image_alignment));
  buffer.host_bytes = bytes;
  device_->host_writes(buffer.host, bytes);
  const std::unique_ptr<ImageDecoding> decoding = decoder_->start();
  ScratchArena scratch;
  for (const BatchDecoding::Image& image : images_) {
    decoding->open(image.encoded);
    decode_whole(*decoding, image.shape, false, buffer.host + (image.pixels - buffer.data), scratch);
    scratch.reset();
  }
  device_->copy(buffer.data, buffer.host, bytes, prep);
  refused_.fetch_add(images_.size(), std::memory_order_relaxed);
}

void DeviceDecode::free_host_images(Buffer& buffer) noexcept {
  if (buffer.host != nullptr)
    pinned_.deallocate(std::exchange(buffer.host, nullptr), buffer.host_bytes, image_alignment);
}

void DeviceDecode::read(StreamRef prep) {
  Buffer& buffer = buffers_[std::exchange(next_, (next_ + 1) % buffers)];
  device_->record(*buffer.read, prep);
  buffer.used = true;
}

void DeviceDecode::forget() noexcept {
  for (Buffer& buffer : buffers_) buffer.used = false;
}

}  // namespace penstock::detail::runtime
