// SPDX-License-Identifier: Apache-2.0
#include "filters/chunk_filters.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "filters/unpack.hpp"

namespace penstock::hdf5 {

std::span<std::byte> Buffer::take(std::size_t bytes) {
  if (bytes > bytes_) {
    data_.reset();
    bytes_ = 0;
    data_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    bytes_ = bytes;
  }
  return {data_.get(), bytes};
}

Workspace::Workspace() : inflater(libdeflate_alloc_decompressor()) {
  if (inflater == nullptr) throw std::bad_alloc();
}

Workspace::~Workspace() { libdeflate_free_decompressor(inflater); }

std::unique_ptr<Workspace> Workspaces::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>();
}

void Workspaces::give_back(std::unique_ptr<Workspace> workspace) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(workspace));
  } catch (...) {
    // If there is no memory to keep the workspace, it is freed.
  }
}

std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t words_before_overflow = 360;
  std::uint32_t sum1 = 0, sum2 = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t words = bytes.size() / 2;
  while (words > 0) {
    std::size_t some = std::min(words, words_before_overflow);
    words -= some;
    for (; some > 0; --some, at += 2) {
      sum1 += static_cast<std::uint32_t>(at[0] << 8 | at[1]);
      sum2 += sum1;
    }
    sum1 = fold(sum1);
    sum2 = fold(sum2);
  }
  if (bytes.size() % 2 != 0) {
    sum1 = fold(sum1 + static_cast<std::uint32_t>(*at << 8));
    sum2 = fold(sum2 + sum1);
  }
  return fold(sum2) << 16 | fold(sum1);
}

namespace {

// With this order of loops, the compiled code can read `Element` streams in parallel.
template <std::size_t Element>
void unshuffle_elements(const std::byte* in, std::byte* out, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < Element; ++b) out[i * Element + b] = in[b * count + i];
}

std::uint32_t little_endian(const std::byte* at) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// A filter, and the size of the bytes that it was applied to: exactly `most` bytes if `exact`, otherwise at most `most`
// bytes.
struct FilterInput {
  ChunkFilter filter;
  std::size_t most;
  bool exact;
};

// Returns the largest size of a filter's result for an input of `bytes` bytes. A result is largest if the data can't be
// compressed.
std::size_t most_made_of(const ChunkFilter& filter, std::size_t bytes) {
  if (filter.kind == ChunkFilter::Kind::fletcher32) return bytes + 4;
  if (filter.kind == ChunkFilter::Kind::deflate) return bytes + bytes / 1000 + 64;
  return filter.compresses() ? bytes + bytes / 8 + 4096 : bytes;
}

// Returns the checksum that very old versions of HDF5 wrote instead of `sum` on little-endian machines.
std::uint32_t bytes_swapped_in_halves(std::uint32_t sum) noexcept {
  return (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
}

}  // namespace

void unshuffle(std::span<const std::byte> in, std::span<std::byte> out, std::size_t element) noexcept {
  const std::size_t count = element == 0 ? 0 : in.size() / element, whole = count * element;
  switch (element) {
    case 2:
      unshuffle_elements<2>(in.data(), out.data(), count);
      break;
    case 4:
      unshuffle_elements<4>(in.data(), out.data(), count);
      break;
    case 8:
      unshuffle_elements<8>(in.data(), out.data(), count);
      break;
    default:
      for (std::size_t b = 0; b < element; ++b)
        for (std::size_t i = 0; i < count; ++i) out[i * element + b] = in[b * count + i];
  }
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(whole), in.end(),
            out.begin() + static_cast<std::ptrdiff_t>(whole));
}

std::string undo_filters(std::span<const ChunkFilter> filters, std::uint32_t mask, std::span<const std::byte> stored,
                         std::span<std::byte> out, bool verify_checksum, Workspace& workspace) {
  std::vector<FilterInput> done;
  std::size_t most = out.size();
  bool exact = true;
  for (std::size_t f = 0; f < filters.size(); ++f) {
    if (f < 32 && (mask >> f & 1) != 0) continue;
    done.push_back({filters[f], most, exact});
    most = most_made_of(filters[f], most);
    exact = exact && !filters[f].compresses();
  }
  std::span<const std::byte> in = stored;
  bool in_place = false;  // `in` has the final bytes, but they are not in `out` yet
  for (std::size_t n = 0; n < done.size(); ++n) {
    const FilterInput& given = done[done.size() - 1 - n];
    const ChunkFilter& filter = given.filter;
    const std::size_t size = given.most;
    const bool known = given.exact;
    const bool last = n + 1 == done.size();
    const auto target = [&] { return last ? out : workspace.halfway[n % 2].take(size); };
    in_place = false;
    switch (filter.kind) {
      case ChunkFilter::Kind::fletcher32: {
        if (in.size() < 4) return "it is too short for its checksum";
        const std::uint32_t said = little_endian(in.data() + in.size() - 4);
        in = in.first(in.size() - 4);
        in_place = last;
        if (!verify_checksum) break;
        const std::uint32_t found = fletcher32(in);
        if (said != found && said != bytes_swapped_in_halves(found)) return "its checksum differs";
        break;
      }
      case ChunkFilter::Kind::deflate: {
        const std::span<std::byte> to = target();
        std::size_t written = 0;
        const libdeflate_result result =
            libdeflate_zlib_decompress(workspace.inflater, in.data(), in.size(), to.data(), to.size(), &written);
        if (result == LIBDEFLATE_BAD_DATA) return "its compressed data is damaged";
        if (result != LIBDEFLATE_SUCCESS || (known && written != to.size()))
          return "it decompresses to more or fewer bytes than the " + std::to_string(to.size()) +
                 (known ? " it must have" : " it can have");
        in = to.first(written);
        break;
      }
      case ChunkFilter::Kind::shuffle: {
        if (known ? in.size() != size : in.size() > size)
          return "it has " + std::to_string(in.size()) + " bytes instead of " + std::to_string(size);
        const std::span<std::byte> to = target().first(in.size());
        unshuffle(in, to, filter.element);
        in = to;
        break;
      }
      default: {
        const std::span<std::byte> to = target();
        const std::string wrong = unpack(filter, in, to, workspace);
        if (!wrong.empty()) return wrong;
        in = to;
      }
    }
  }
  if (done.empty() || in_place) {
    if (in.size() != out.size())
      return "it has " + std::to_string(in.size()) + " bytes instead of " + std::to_string(out.size());
    std::copy(in.begin(), in.end(), out.begin());
  }
  return {};
}

}  // namespace penstock::hdf5
