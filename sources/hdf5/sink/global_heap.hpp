// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::hdf5 {

/// A collection of HDF5's global heap, which stores values of no fixed size. One thread at a time.
class GlobalHeap {
 public:
  GlobalHeap();
  /// Restores a heap whose `image()` and `objects()` had these values.
  GlobalHeap(std::vector<std::byte> image, std::uint32_t objects);

  bool empty() const noexcept { return objects_ == 0; }
  std::uint32_t objects() const noexcept { return objects_; }
  std::span<const std::byte> image() const noexcept { return image_; }
  /// Returns whether a value of `bytes` bytes should go to the next collection. Readers load a whole collection, so
  /// collections should be small.
  bool full_for(std::size_t bytes) const noexcept;
  /// Adds a value. Returns the number of its object.
  std::uint32_t add(std::span<const std::byte> value);
  /// Returns the collection as it is stored, and empties the heap.
  std::vector<std::byte> take();

 private:
  std::vector<std::byte> image_;
  std::uint32_t objects_ = 0;
};

}  // namespace penstock::hdf5
