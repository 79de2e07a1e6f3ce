// SPDX-License-Identifier: Apache-2.0
#include "sink/global_heap.hpp"

#include <cstring>
#include <utility>

namespace penstock::hdf5 {

namespace {

constexpr std::size_t header_bytes = 16, object_bytes = 16, min_bytes = 4096, usual_bytes = 1u << 16;
constexpr std::uint32_t max_objects = 65'535;

std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

template <class T>
void append(std::vector<std::byte>& to, T number) {
  // The format and the machine are little-endian.
  const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
  to.insert(to.end(), bytes, bytes + sizeof number);
}

void append_object(std::vector<std::byte>& to, std::uint16_t number, std::uint64_t bytes) {
  append(to, number);
  append(to, std::uint16_t{0});  // references are not counted
  append(to, std::uint32_t{0});
  append(to, bytes);
}

std::vector<std::byte> empty_image() {
  std::vector<std::byte> image(header_bytes);
  std::memcpy(image.data(), "GCOL\x01", 5);
  return image;
}

}  // namespace

GlobalHeap::GlobalHeap() : image_(empty_image()) {}

GlobalHeap::GlobalHeap(std::vector<std::byte> image, std::uint32_t objects)
    : image_(std::move(image)), objects_(objects) {}

bool GlobalHeap::full_for(std::size_t bytes) const noexcept {
  return !empty() && (objects_ == max_objects || image_.size() + object_bytes + padded(bytes) > usual_bytes);
}

std::uint32_t GlobalHeap::add(std::span<const std::byte> value) {
  append_object(image_, static_cast<std::uint16_t>(++objects_), value.size());
  image_.insert(image_.end(), value.begin(), value.end());
  image_.resize(padded(image_.size()));
  return objects_;
}

std::vector<std::byte> GlobalHeap::take() {
  if (image_.size() < min_bytes) {
    // The free space at the end is described as object 0.
    const std::size_t left = min_bytes - image_.size();
    if (left >= object_bytes) append_object(image_, 0, left);
    image_.resize(min_bytes);
  }
  const std::uint64_t bytes = image_.size();
  std::memcpy(image_.data() + 8, &bytes, sizeof bytes);
  objects_ = 0;
  return std::exchange(image_, empty_image());
}

}  // namespace penstock::hdf5
