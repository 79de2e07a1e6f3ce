// SPDX-License-Identifier: Apache-2.0
// Plain calls of the HDF5 library. Rows about HDF5 are compared with them.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

struct libdeflate_decompressor;

namespace penstock::bench {

// A dataset of images, open for reading.
class PlainHdf5 {
 public:
  PlainHdf5(const std::filesystem::path& file, const char* dataset);
  PlainHdf5(const PlainHdf5&) = delete;
  PlainHdf5& operator=(const PlainHdf5&) = delete;
  ~PlainHdf5();

  std::uint64_t rows() const noexcept { return dims_.front(); }
  std::size_t row_bytes() const noexcept;
  std::uint64_t chunk_rows() const noexcept { return chunk_.front(); }
  // Returns where contiguous data begin in the file.
  std::uint64_t offset() const;
  // Reads rows with H5Dread. One thread at a time.
  void read(std::uint64_t first, std::uint64_t count, std::byte* out) const;
  // Returns a chunk as it is stored. A mutex lets one thread at a time in.
  std::span<const std::byte> stored_chunk(std::uint64_t chunk, std::vector<std::byte>& buffer) const;

 private:
  hid_t file_ = -1, dataset_ = -1;
  std::vector<hsize_t> dims_, chunk_;
  mutable std::mutex mutex_;
};

// A decompressor for one thread.
class PlainInflater {
 public:
  PlainInflater();
  PlainInflater(PlainInflater&& other) noexcept;
  PlainInflater& operator=(PlainInflater&&) = delete;
  ~PlainInflater();
  void inflate(std::span<const std::byte> stored, std::span<std::byte> out) const;

 private:
  libdeflate_decompressor* inflater_;
};

// Writes a dataset u8[rows, ...]. `rows_of` fills the rows from `first` on. If `chunk` is 0, the data are contiguous.
// If `deflate` is 0, they are not compressed.
void write_plain_hdf5(const std::filesystem::path& file, const char* dataset, const std::vector<std::uint64_t>& dims,
                      std::uint64_t chunk, unsigned deflate, std::uint64_t rows_at_once,
                      const std::function<void(std::uint64_t first, std::span<std::byte> rows)>& rows_of);

}  // namespace penstock::bench
