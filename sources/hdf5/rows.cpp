#include "rows.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace penstock::hdf5 {

namespace {

// What is wrong, or nothing. Elements from `first` on, so many in each dimension.
std::string read_slab(const Dataset& dataset, std::span<const std::uint64_t> first,
                      std::span<const std::uint64_t> count, hid_t memory, bool verify_checksum,
                      std::span<std::byte> out) {
  dataset.file().require_own_process();
  if (out.empty()) return {};
  const LibraryLock lock;
  std::array<hsize_t, H5S_MAX_RANK> at{}, extent{};
  std::copy(first.begin(), first.end(), at.begin());
  std::copy(count.begin(), count.end(), extent.begin());
  const Handle file_space = own_space(H5Dget_space(dataset.id()));
  const Handle memory_space = own_space(H5Screate_simple(static_cast<int>(count.size()), extent.data(), nullptr));
  const Handle transfer = own_list(H5Pcreate(H5P_DATASET_XFER));
  if (!verify_checksum) H5Pset_edc_check(transfer.get(), H5Z_DISABLE_EDC);
  if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, at.data(), nullptr, extent.data(), nullptr) >= 0 &&
      H5Dread(dataset.id(), memory, memory_space.get(), file_space.get(), transfer.get(), out.data()) >= 0)
    return {};
  return library_says();
}

void read_rows_as(const Dataset& dataset, std::uint64_t first, std::uint64_t count, hid_t memory, bool verify_checksum,
                  std::span<std::byte> out) {
  std::vector<std::uint64_t> at(dataset.dims().size()), extent(dataset.dims().begin(), dataset.dims().end());
  at.front() = first;
  extent.front() = count;
  const std::string wrong = read_slab(dataset, at, extent, memory, verify_checksum, out);
  if (wrong.empty()) return;
  const std::string rows = count == 1 ? "row " + std::to_string(first)
                                      : "rows " + std::to_string(first) + " to " + std::to_string(first + count - 1);
  throw dataset.error(dataset.code_now(), rows + " can't be read: " + wrong);
}

}  // namespace

void read_rows(const Dataset& dataset, std::uint64_t first, std::uint64_t count, bool verify_checksum,
               std::span<std::byte> out) {
  if (count != 0) read_rows_as(dataset, first, count, dataset.type(), verify_checksum, out);
}

void read_row_as(const Dataset& dataset, std::uint64_t row, hid_t memory, bool verify_checksum,
                 std::span<std::byte> out) {
  read_rows_as(dataset, row, 1, memory, verify_checksum, out);
}

void read_chunk(const Dataset& dataset, std::span<const std::uint64_t> first, bool verify_checksum,
                std::span<std::byte> out) {
  std::vector<std::uint64_t> extent;
  for (std::size_t d = 0; d < first.size(); ++d)
    extent.push_back(std::min(dataset.chunk()[d], dataset.dims()[d] - first[d]));
  const std::string wrong = read_slab(dataset, first, extent, dataset.type(), verify_checksum, out);
  if (!wrong.empty()) throw dataset.chunk_error(dataset.code_now(), wrong, first);
}

void read_plain(const Dataset& dataset, const ChunkPlaces& places, std::uint64_t row, std::span<std::byte> out) {
  const std::optional<std::uint64_t> at = places.offset_of(dataset, row);
  if (!at) return dataset.fill(out);
  dataset.read_stored(*at, out);
}

void read_contiguous(const Dataset& dataset, std::uint64_t row, std::span<std::byte> out) {
  if (!dataset.offset()) return dataset.fill(out);
  const std::uint64_t at = *dataset.offset() + row * dataset.row_bytes();
  dataset.read_stored(at, out);
}

}  // namespace penstock::hdf5
