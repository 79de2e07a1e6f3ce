#include "rows.hpp"

#include <array>
#include <string>

namespace penstock::hdf5 {

namespace {

void read_slab(const Dataset& dataset, std::uint64_t first, std::uint64_t count, hid_t memory, bool verify_checksum,
               std::span<std::byte> out) {
  dataset.file().require_own_process();
  if (out.empty() || count == 0) return;
  std::string wrong;
  {
    const LibraryLock lock;
    std::array<hsize_t, H5S_MAX_RANK> at{}, extent{};
    const std::size_t rank = dataset.dims().size();
    for (std::size_t d = 0; d < rank; ++d) extent[d] = dataset.dims()[d];
    at[0] = first;
    extent[0] = count;
    const Handle file_space = own_space(H5Dget_space(dataset.id()));
    const Handle memory_space = own_space(H5Screate_simple(static_cast<int>(rank), extent.data(), nullptr));
    const Handle transfer = own_list(H5Pcreate(H5P_DATASET_XFER));
    if (!verify_checksum) H5Pset_edc_check(transfer.get(), H5Z_DISABLE_EDC);
    if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, at.data(), nullptr, extent.data(), nullptr) >= 0 &&
        H5Dread(dataset.id(), memory, memory_space.get(), file_space.get(), transfer.get(), out.data()) >= 0)
      return;
    wrong = library_says();
  }
  const std::string rows = count == 1 ? "row " + std::to_string(first)
                                      : "rows " + std::to_string(first) + " to " + std::to_string(first + count - 1);
  throw dataset.error(dataset.code_now(), rows + " can't be read: " + wrong);
}

}  // namespace

void read_rows(const Dataset& dataset, std::uint64_t first, std::uint64_t count, bool verify_checksum,
               std::span<std::byte> out) {
  read_slab(dataset, first, count, dataset.type(), verify_checksum, out);
}

void read_row_as(const Dataset& dataset, std::uint64_t row, hid_t memory, bool verify_checksum,
                 std::span<std::byte> out) {
  read_slab(dataset, row, 1, memory, verify_checksum, out);
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
