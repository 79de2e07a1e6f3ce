// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

struct libdeflate_decompressor;

namespace penstock::hdf5 {

/// A filter that was applied to a chunk before the chunk was stored.
struct ChunkFilter {
  enum class Kind : std::uint8_t { deflate, shuffle, fletcher32, lzf, lz4, zstd, blosc, bitshuffle };
  enum class Inner : std::uint8_t { none, lz4, zstd };
  Kind kind = Kind::deflate;
  std::size_t element = 1;    ///< shuffle, bitshuffle: bytes per element
  std::size_t block = 0;      ///< bitshuffle without compression: elements per shuffled block
  Inner inner = Inner::none;  ///< bitshuffle: how the bits are compressed
  /// Returns whether the size of the filter's result depends on the values of the data.
  bool compresses() const noexcept {
    return kind != Kind::shuffle && kind != Kind::fletcher32 && (kind != Kind::bitshuffle || inner != Inner::none);
  }
  /// Returns whether undoing the filter is possible without knowing the size of the result in advance.
  bool takes_any_size() const noexcept {
    return kind == Kind::deflate || kind == Kind::shuffle || kind == Kind::fletcher32;
  }

  friend bool operator==(const ChunkFilter&, const ChunkFilter&) = default;
};

/// Memory that grows, and is not freed between uses. Its content is undefined after `take`.
class Buffer {
 public:
  std::span<std::byte> take(std::size_t bytes);

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t bytes_ = 0;
};

/// The memory and decoders that a thread needs to decode chunks.
class Workspace {
 public:
  Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  Buffer stored, tile;
  Buffer halfway[2];  ///< results between two filters; the two buffers take turns
  Buffer bits;        ///< bitshuffle: a decompressed block whose bits are still apart
  std::shared_ptr<void> zstd;
  libdeflate_decompressor* inflater;
};

/// Lends workspaces to the threads that decode.
class Workspaces {
 public:
  class Lease {
   public:
    explicit Lease(Workspaces& from) : from_(from), workspace_(from.take()) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { from_.give_back(std::move(workspace_)); }
    Workspace& operator*() const noexcept { return *workspace_; }

   private:
    Workspaces& from_;
    std::unique_ptr<Workspace> workspace_;
  };

 private:
  std::unique_ptr<Workspace> take();
  void give_back(std::unique_ptr<Workspace> workspace) noexcept;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
};

/// Undoes a chunk's filters, the last one first, and fills `out`. If bit n of `mask` is set, filter n was not applied
/// to the chunk. Returns what is wrong with the chunk; empty if nothing is wrong.
std::string undo_filters(std::span<const ChunkFilter> filters, std::uint32_t mask, std::span<const std::byte> stored,
                         std::span<std::byte> out, bool verify_checksum, Workspace& workspace);

/// Returns the checksum of HDF5's filter fletcher32: Fletcher's sums modulo 65535 over big-endian words of 16 bits. An
/// odd last byte is the upper half of a word.
std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept;

/// Puts elements back together whose bytes are stored apart: the first bytes of all elements, then all second bytes, ….
/// An incomplete element at the end stays at the end. `element`: bytes per element.
void unshuffle(std::span<const std::byte> in, std::span<std::byte> out, std::size_t element) noexcept;

}  // namespace penstock::hdf5
