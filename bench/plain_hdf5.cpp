// SPDX-License-Identifier: Apache-2.0
#include "plain_hdf5.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace penstock::bench {

namespace {

void require(bool fine, const char* doing) {
  if (!fine) throw std::runtime_error(std::string("HDF5: ") + doing + " failed");
}

std::uint64_t product(std::span<const hsize_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies<>());
}

}  // namespace

PlainHdf5::PlainHdf5(const std::filesystem::path& file, const char* dataset) {
  file_ = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  require(file_ >= 0, "opening the file");
  dataset_ = H5Dopen2(file_, dataset, H5P_DEFAULT);
  require(dataset_ >= 0, "opening the dataset");
  const hid_t space = H5Dget_space(dataset_), creation = H5Dget_create_plist(dataset_);
  dims_.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, dims_.data(), nullptr);
  chunk_.resize(dims_.size());
  if (H5Pget_layout(creation) == H5D_CHUNKED) H5Pget_chunk(creation, static_cast<int>(chunk_.size()), chunk_.data());
  H5Pclose(creation);
  H5Sclose(space);
}

PlainHdf5::~PlainHdf5() {
  H5Dclose(dataset_);
  H5Fclose(file_);
}

std::size_t PlainHdf5::row_bytes() const noexcept { return product(std::span(dims_).subspan(1)); }

std::uint64_t PlainHdf5::offset() const {
  const haddr_t at = H5Dget_offset(dataset_);
  require(at != HADDR_UNDEF, "finding the data");
  return at;
}

void PlainHdf5::read(std::uint64_t first, std::uint64_t count, std::byte* out) const {
  std::vector<hsize_t> at(dims_.size()), extent(dims_);
  at.front() = first;
  extent.front() = count;
  const hid_t space = H5Dget_space(dataset_);
  const hid_t memory = H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, at.data(), nullptr, extent.data(), nullptr);
  require(H5Dread(dataset_, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, out) >= 0, "reading rows");
  H5Sclose(memory);
  H5Sclose(space);
}

std::span<const std::byte> PlainHdf5::stored_chunk(std::uint64_t chunk, std::vector<std::byte>& buffer) const {
  std::vector<hsize_t> at(dims_.size());
  at.front() = chunk * chunk_.front();
  const std::lock_guard lock(mutex_);
  hsize_t bytes = 0;
  require(H5Dget_chunk_storage_size(dataset_, at.data(), &bytes) >= 0, "measuring a chunk");
  if (buffer.size() < bytes) buffer.resize(bytes);
  std::uint32_t mask = 0;
  require(H5Dread_chunk(dataset_, H5P_DEFAULT, at.data(), &mask, buffer.data()) >= 0, "reading a chunk");
  return std::span(buffer).first(bytes);
}

PlainInflater::PlainInflater() : inflater_(libdeflate_alloc_decompressor()) {}
PlainInflater::PlainInflater(PlainInflater&& other) noexcept : inflater_(std::exchange(other.inflater_, nullptr)) {}
PlainInflater::~PlainInflater() {
  if (inflater_ != nullptr) libdeflate_free_decompressor(inflater_);
}

void PlainInflater::inflate(std::span<const std::byte> stored, std::span<std::byte> out) const {
  if (libdeflate_zlib_decompress(inflater_, stored.data(), stored.size(), out.data(), out.size(), nullptr) !=
      LIBDEFLATE_SUCCESS)
    throw std::runtime_error("a chunk can't be decompressed");
}

void write_plain_hdf5(const std::filesystem::path& file, const char* dataset, const std::vector<std::uint64_t>& dims,
                      std::uint64_t chunk, unsigned deflate, std::uint64_t rows_at_once,
                      const std::function<void(std::uint64_t first, std::span<std::byte> rows)>& rows_of) {
  const hid_t out = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  require(out >= 0, "making the file");
  const std::vector<hsize_t> extent(dims.begin(), dims.end());
  const auto rank = static_cast<int>(extent.size());
  const hid_t space = H5Screate_simple(rank, extent.data(), nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  std::vector<hsize_t> part = extent;
  if (chunk != 0) {
    part.front() = chunk;
    H5Pset_chunk(creation, rank, part.data());
  }
  if (deflate != 0) H5Pset_deflate(creation, deflate);
  const hid_t data = H5Dcreate2(out, dataset, H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  require(data >= 0, "making the dataset");
  std::vector<std::byte> rows;
  std::vector<hsize_t> at(extent.size());
  for (std::uint64_t first = 0; first < extent.front(); first += rows_at_once) {
    part.front() = std::min<hsize_t>(rows_at_once, extent.front() - first);
    at.front() = first;
    rows.resize(product(part));
    rows_of(first, rows);
    const hid_t memory = H5Screate_simple(rank, part.data(), nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at.data(), nullptr, part.data(), nullptr);
    require(H5Dwrite(data, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, rows.data()) >= 0, "writing rows");
    H5Sclose(memory);
  }
  H5Pclose(creation);
  H5Sclose(space);
  require(H5Dclose(data) >= 0 && H5Fclose(out) >= 0, "closing the file");
}

}  // namespace penstock::bench
