// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/extend/image_encoder.hpp>
#include <penstock/extend/image_executor.hpp>

namespace penstock::detail {

/// An encoded file in scratch memory. A file that grows takes another piece of memory; its earlier bytes are not moved.
class FilePieces final : public EncodedFile {
 public:
  /// `max_bytes`: the largest size that the file may have.
  FilePieces(Scratch& scratch, std::uint64_t max_bytes) : scratch_(scratch), max_bytes_(max_bytes) {}
  FilePieces(const FilePieces&) = delete;
  FilePieces& operator=(const FilePieces&) = delete;

  void append(std::span<const std::byte> bytes) override;
  std::size_t size() const noexcept { return size_; }
  void copy_to(std::byte* out) const;

 private:
  // Each piece is at least as large as all pieces before it together.
  static constexpr std::size_t first_piece = 16 << 10, most_pieces = 64;

  Scratch& scratch_;
  const std::uint64_t max_bytes_;
  std::array<std::span<std::byte>, most_pieces> pieces_;
  // The number of pieces, the bytes of the file, and the free bytes in the last piece.
  std::size_t count_ = 0, size_ = 0, room_ = 0;
};

}  // namespace penstock::detail
