// SPDX-License-Identifier: Apache-2.0
#include "sink/chunk_work.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "filters/chunk_filters.hpp"

namespace penstock::hdf5 {

namespace {

template <std::size_t Element>
void shuffle_elements(const std::byte* in, std::byte* out, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < Element; ++b) out[b * count + i] = in[i * Element + b];
}

}  // namespace

void shuffle(std::span<const std::byte> in, std::span<std::byte> out, std::size_t element) noexcept {
  const std::size_t count = element == 0 ? 0 : in.size() / element, whole = count * element;
  switch (element) {
    case 2:
      shuffle_elements<2>(in.data(), out.data(), count);
      break;
    case 4:
      shuffle_elements<4>(in.data(), out.data(), count);
      break;
    case 8:
      shuffle_elements<8>(in.data(), out.data(), count);
      break;
    default:
      for (std::size_t b = 0; b < element; ++b)
        for (std::size_t i = 0; i < count; ++i) out[b * count + i] = in[i * element + b];
  }
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(whole), in.end(),
            out.begin() + static_cast<std::ptrdiff_t>(whole));
}

bool ChunkWork::claim() noexcept {
  if (claimed_.exchange(true, std::memory_order_acq_rel)) return false;
  try {
    encode();
  } catch (...) {
    failed_ = true;
  }
  done_.store(true, std::memory_order_release);
  done_.notify_all();
  return true;
}

void ChunkWork::encode() {
  unsigned filter = 0;
  std::vector<std::byte> other;
  if (form_.shuffled_element != 0) {
    other.resize(chunk_.size());
    hdf5::shuffle(chunk_, other, form_.shuffled_element);
    chunk_.swap(other);
    ++filter;
  }
  if (form_.deflate != 0) {
    const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
        libdeflate_alloc_compressor(static_cast<int>(form_.deflate)), libdeflate_free_compressor);
    if (compressor == nullptr) throw std::bad_alloc();
    // A chunk that compression does not make smaller is stored uncompressed. So the compressor gets room for one byte
    // less than the chunk.
    other.resize(chunk_.size());
    const std::size_t bytes =
        libdeflate_zlib_compress(compressor.get(), chunk_.data(), chunk_.size(), other.data(), chunk_.size() - 1);
    if (bytes == 0) {
      mask_ |= 1u << filter;
    } else {
      other.resize(bytes);
      other.shrink_to_fit();
      chunk_.swap(other);
    }
    ++filter;
  }
  if (form_.fletcher32) {
    const std::uint32_t sum = fletcher32(chunk_);
    const auto* const bytes = reinterpret_cast<const std::byte*>(&sum);
    chunk_.insert(chunk_.end(), bytes, bytes + sizeof sum);
  }
}

}  // namespace penstock::hdf5
