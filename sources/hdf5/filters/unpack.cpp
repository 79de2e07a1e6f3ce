// SPDX-License-Identifier: Apache-2.0
#include "filters/unpack.hpp"

#include <blosc.h>
#include <liblzf/lzf.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "filters/bit_shuffle.hpp"

namespace penstock::hdf5 {

namespace {

constexpr const char* damaged = "its compressed data is damaged";

std::string other_size(std::size_t bytes) {
  return "it decompresses to more or fewer bytes than the " + std::to_string(bytes) + " it must have";
}

// Reads numbers and blocks, one after the other. The functions return false if too few bytes are left.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool number(std::size_t bytes, std::uint64_t& n) {
    std::span<const std::byte> digits;
    if (!take(bytes, digits)) return false;
    n = 0;
    for (const std::byte digit : digits) n = n << 8 | std::to_integer<std::uint64_t>(digit);
    return true;
  }
  bool take(std::uint64_t bytes, std::span<const std::byte>& some) {
    if (bytes > rest_.size()) return false;
    some = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return true;
  }
  // Reads a size of 4 bytes, and then a block of that size.
  bool block(std::span<const std::byte>& some) {
    std::uint64_t bytes = 0;
    return number(4, bytes) && take(bytes, some);
  }

 private:
  std::span<const std::byte> rest_;
};

// Decompresses one block. Returns whether the result fills `out`.
bool lz4_block(std::span<const std::byte> in, std::span<std::byte> out) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  return in.size() <= most && out.size() <= most &&
         LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out.data()),
                             static_cast<int>(in.size()), static_cast<int>(out.size())) == static_cast<int>(out.size());
}

bool zstd_block(std::span<const std::byte> in, std::span<std::byte> out, Workspace& workspace) {
  if (workspace.zstd == nullptr) {
    workspace.zstd.reset(ZSTD_createDCtx(), [](void* context) { ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(context)); });
    if (workspace.zstd == nullptr) throw std::bad_alloc();
  }
  return ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(workspace.zstd.get()), out.data(), out.size(), in.data(),
                             in.size()) == out.size();
}

// Undoes the filter lz4. The data begin with the size of the result and the size of a decompressed block. Blocks
// follow, each after its stored size. A block that compression did not make smaller is stored unchanged.
std::string lz4(std::span<const std::byte> stored, std::span<std::byte> out) {
  Input in(stored);
  std::uint64_t all = 0, block = 0;
  if (!in.number(8, all) || !in.number(4, block)) return damaged;
  if (all != out.size()) return other_size(out.size());
  while (!out.empty()) {
    const std::span<std::byte> to = out.first(std::min<std::uint64_t>(block, out.size()));
    std::span<const std::byte> packed;
    if (to.empty() || !in.block(packed)) return damaged;
    if (packed.size() == to.size()) {
      std::memcpy(to.data(), packed.data(), to.size());
    } else if (!lz4_block(packed, to)) {
      return damaged;
    }
    out = out.subspan(to.size());
  }
  return {};
}

std::string blosc(std::span<const std::byte> in, std::span<std::byte> out) {
  std::size_t all = 0;
  if (blosc_cbuffer_validate(in.data(), in.size(), &all) < 0) return damaged;
  if (all != out.size()) return other_size(out.size());
  constexpr int threads = 1;
  return blosc_decompress_ctx(in.data(), out.data(), out.size(), threads) == static_cast<int>(out.size())
             ? std::string()
             : damaged;
}

// Undoes the filter bitshuffle. Each block has a multiple of 8 elements, with their bits apart. A compressed block
// comes after its stored size. The last block may be smaller. Fewer than 8 elements may be left after the last block.
// They are stored unchanged.
std::string bit_blocks(const ChunkFilter& filter, std::span<const std::byte> stored, std::span<std::byte> out,
                       Workspace& workspace) {
  using Inner = ChunkFilter::Inner;
  Input in(stored);
  const std::uint64_t element = filter.element;
  std::uint64_t block = filter.block;  // elements
  if (filter.inner != Inner::none) {
    std::uint64_t all = 0, bytes = 0;
    if (!in.number(8, all) || !in.number(4, bytes)) return damaged;
    if (all != out.size()) return other_size(out.size());
    block = bytes / element;
  }
  if (block == 0 || block % 8 != 0 || out.size() % element != 0) return damaged;
  std::span<const std::byte> from;
  while (out.size() >= 8 * element) {
    const std::uint64_t count = std::min<std::uint64_t>(block, out.size() / element / 8 * 8);
    const std::span<std::byte> to = out.first(count * element);
    if (filter.inner == Inner::none) {
      if (!in.take(to.size(), from)) return damaged;
    } else {
      std::span<const std::byte> packed;
      const std::span<std::byte> apart = workspace.bits.take(to.size());
      if (!in.block(packed)) return damaged;
      if (!(filter.inner == Inner::lz4 ? lz4_block(packed, apart) : zstd_block(packed, apart, workspace)))
        return damaged;
      from = apart;
    }
    unshuffle_bits(from, to, element);
    out = out.subspan(to.size());
  }
  if (!in.take(out.size(), from)) return damaged;
  std::copy(from.begin(), from.end(), out.begin());
  return {};
}

}  // namespace

bool can_unpack() noexcept { return true; }

std::string unpack(const ChunkFilter& filter, std::span<const std::byte> in, std::span<std::byte> out,
                   Workspace& workspace) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (in.size() > most || out.size() > most) return damaged;
  switch (filter.kind) {
    case ChunkFilter::Kind::lzf:
      return lzf_decompress(in.data(), static_cast<unsigned>(in.size()), out.data(),
                            static_cast<unsigned>(out.size())) == out.size()
                 ? std::string()
                 : damaged;
    case ChunkFilter::Kind::lz4:
      return lz4(in, out);
    case ChunkFilter::Kind::zstd:
      return zstd_block(in, out, workspace) ? std::string() : damaged;
    case ChunkFilter::Kind::blosc:
      return blosc(in, out);
    default:
      return bit_blocks(filter, in, out, workspace);
  }
}

}  // namespace penstock::hdf5
