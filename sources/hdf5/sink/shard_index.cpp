// SPDX-License-Identifier: Apache-2.0
#include "sink/shard_index.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <span>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "library/errors.hpp"
#include "library/open_file.hpp"
#include "sink/writing_driver.hpp"

namespace penstock::hdf5 {

namespace {

constexpr const char* classes_attribute = "classes";

class IndexWriter {
 public:
  IndexWriter(const std::string& file, std::uint64_t data_end) : path_(file), driver_(file, data_end) {}

  void write(const std::vector<StoredDataset>& datasets, const std::vector<WrittenBlocks>& blocks, std::uint64_t rows,
             const std::string& keys) {
    std::string said;
    Handle file = driver_.create(said);
    if (!file) fail("making the file's index", said);
    for (std::size_t i = 0; i < datasets.size(); ++i) write_dataset(file.get(), datasets[i], blocks[i], rows);
    if (!keys.empty()) write_text(file.get(), keys_attribute, keys);
    must(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "writing the file's index");
    file = {};
    if (driver_.failure() != 0) throw write_error(driver_.failure(), "writing the file's index", path_, 0);
  }

 private:
  [[noreturn]] void fail(const std::string& doing, const std::string& said) const {
    if (driver_.failure() != 0) throw write_error(driver_.failure(), doing, path_, 0);
    throw error_in(path_, Errc::io, doing + ": " + said);
  }
  void must(herr_t status, const std::string& doing) const {
    if (status < 0 || driver_.failure() != 0) fail(doing, library_says());
  }
  Handle must(Handle handle, const std::string& doing) const {
    if (!handle) fail(doing, library_says());
    return handle;
  }

  Handle creation_of(const StoredDataset& dataset) const {
    Handle list = must(own_list(H5Pcreate(H5P_DATASET_CREATE)), "describing a dataset");
    std::vector<hsize_t> chunk{dataset.chunk_rows};
    chunk.insert(chunk.end(), dataset.dims.begin(), dataset.dims.end());
    herr_t status = H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data());
    // The file has no times, so that equal data give equal bytes.
    if (status >= 0) status = H5Pset_obj_track_times(list.get(), false);
    if (status >= 0 && dataset.shuffle) status = H5Pset_shuffle(list.get());
    // The library allows levels up to 9. A higher level is stored as 9, because readers don't need the level.
    if (status >= 0 && dataset.deflate != 0) status = H5Pset_deflate(list.get(), std::min(dataset.deflate, 9u));
    if (status >= 0 && dataset.fletcher32) status = H5Pset_fletcher32(list.get());
    must(status, "describing the dataset '" + dataset.path + "'");
    return list;
  }

  void write_dataset(hid_t file, const StoredDataset& dataset, const WrittenBlocks& blocks, std::uint64_t rows) {
    const std::string doing = "writing the index of the dataset '" + dataset.path + "'";
    // The number of rows is unlimited, because a chunk may have more rows than the dataset.
    std::vector<hsize_t> now{rows}, most{H5S_UNLIMITED};
    now.insert(now.end(), dataset.dims.begin(), dataset.dims.end());
    most.insert(most.end(), dataset.dims.begin(), dataset.dims.end());
    const Handle space =
        must(own_space(H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data())), doing);
    const Handle links = must(own_list(H5Pcreate(H5P_LINK_CREATE)), doing);
    must(H5Pset_create_intermediate_group(links.get(), 1), doing);
    must(H5Pset_char_encoding(links.get(), H5T_CSET_UTF8), doing);
    const Handle type = must(stored_type(dataset), doing), creation = creation_of(dataset);
    const Handle made =
        must({H5Dcreate2(file, dataset.path.c_str(), type.get(), space.get(), links.get(), creation.get(), H5P_DEFAULT),
              H5Dclose},
             doing);
    std::vector<hsize_t> first(now.size());
    static constexpr std::byte nothing{};  // the driver does not write these bytes
    for (std::size_t i = 0; i < blocks.chunks.size(); ++i) {
      const WrittenChunk& chunk = blocks.chunks[i];
      first[0] = i * dataset.chunk_rows;
      driver_.next_data(chunk.offset);
      must(H5Dwrite_chunk(made.get(), H5P_DEFAULT, chunk.mask, first.data(), chunk.bytes, &nothing), doing);
    }
    if (!dataset.classes.empty()) write_classes(made.get(), dataset.classes, doing);
  }

  void write_classes(hid_t dataset, const ClassNames& classes, const std::string& doing) const {
    const Handle any = must(own_type(H5Tcopy(H5T_C_S1)), doing);
    must(H5Tset_size(any.get(), H5T_VARIABLE), doing);
    must(H5Tset_cset(any.get(), H5T_CSET_UTF8), doing);
    const hsize_t count = classes.size();
    const Handle many = must(own_space(H5Screate_simple(1, &count, nullptr)), doing);
    const Handle made = must(
        {H5Acreate2(dataset, classes_attribute, any.get(), many.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose}, doing);
    std::vector<const char*> names;
    for (const std::string& name : classes) names.push_back(name.c_str());
    must(H5Awrite(made.get(), any.get(), names.data()), doing);
  }

  void write_text(hid_t file, const char* name, const std::string& text) const {
    const std::string doing = "writing the file's attributes";
    const Handle type = must(own_type(H5Tcopy(H5T_C_S1)), doing);
    must(H5Tset_size(type.get(), std::max<std::size_t>(text.size(), 1)), doing);
    must(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), doing);
    const Handle one = must(own_space(H5Screate(H5S_SCALAR)), doing);
    const Handle attribute =
        must({H5Acreate2(file, name, type.get(), one.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose}, doing);
    must(H5Awrite(attribute.get(), type.get(), text.c_str()), doing);
  }

  const std::string path_;
  WritingDriver driver_;
};

}  // namespace

void write_index(const std::string& file, std::uint64_t data_end, const std::vector<StoredDataset>& datasets,
                 const std::vector<WrittenBlocks>& blocks, std::uint64_t rows, const std::string& keys) {
  const LibraryLock lock;
  IndexWriter(file, data_end).write(datasets, blocks, rows, keys);
}

bool is_indexed(const std::string& file) {
  // The library writes version 0 of the superblock: the signature first, the file's end at byte 40.
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n\0", 9);
  constexpr std::size_t end_at = 40;
  std::array<char, 48> head{};
  std::ifstream in(file, std::ios::binary);
  if (!in.read(head.data(), head.size())) return false;
  std::uint64_t end = 0;
  std::memcpy(&end, head.data() + end_at, sizeof end);
  return std::string_view(head.data(), signature.size()) == signature && file_bytes(file, source_name) == end;
}

std::uint64_t rows_of_shard(const std::string& path, const std::string& dataset) {
  const LibraryLock lock;
  const Handle file = open_written_file(path);
  const Handle data(H5Dopen2(file.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle space = own_space(data ? H5Dget_space(data.get()) : -1);
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  return space && H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr) >= 1 ? dims[0] : 0;
}

}  // namespace penstock::hdf5
