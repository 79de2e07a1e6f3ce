// SPDX-License-Identifier: Apache-2.0
// Data sets the rows are measured on. Each is made once below Settings::data and used again as long as it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "harness.hpp"

namespace penstock::bench {

struct Store {
  std::filesystem::path folder;  // an LMDB
  std::uint64_t records = 0;
  std::string description;  // where its content came from
};

// The JPEG job: 4,000 pictures of 500x375, 4:2:0, quality 90; noisy: with noise of sigma 7, quality 95.
Store picture_store(const Settings& settings, bool noisy);

// The pictures of `picture_store`, each as seekable_jpeg rewrites it. The description says the bytes of both.
Store seekable_store(const Settings& settings, bool noisy);

// The pictures of `picture_store`, each with the Huffman tables that suit it best, as `jpegtran -optimize` writes them.
Store own_tables_store(const Settings& settings);

// `records` values of `bytes` random bytes each.
Store value_store(const Settings& settings, std::uint64_t records, std::size_t bytes);

// The values of `value_store` as tar shards of 1,000 samples, `bin` members.
Store shard_store(const Settings& settings, std::uint64_t records, std::size_t bytes);

// 1.2 million small records whose keys have to be read to be known ("class0042/img_00001234.jpg").
Store named_store(const Settings& settings);

// slide.svs of 20,000 x 20,000 pixels, tiles of 256, 4:2:0, quality 80, as the tool draws it; `wide`: of 82,000 x
// 82,000, some hundred tiles in all its places. @throws std::runtime_error where the tool was not built.
Store drawn_slide(const Settings& settings);
// The slide of `drawn_slide`, with one level alone.
Store single_level_slide(const Settings& settings);
// The slide of `drawn_slide` with one level alone, of tiles of JPEG 2000, RGB.
Store jpeg2000_slide(const Settings& settings);
// 0.svs to 7.svs, of 4,000 x 4,000 pixels, one level.
Store cohort_of_slides(const Settings& settings);
Store wide_slide(const Settings& settings);

// 8,192 images u8[96, 96, 3], "x" in `gzip.h5` (gzip 4, chunks of 32 images) and in `contiguous.h5`.
Store image_hdf5(const Settings& settings);

// "x" in `chunks.h5`: 262,144 compressed chunks of one row each.
Store many_chunks_hdf5(const Settings& settings);

// The path of a file in a folder that `picture_store` and its like return.
std::filesystem::path data_file(const Store& store);

// Takes a file out of the page cache, also what this process has mapped of it.
void drop_cache(const std::filesystem::path& file);

// Bytes this process has caused to be read from disks, from /proc/self/io.
std::uint64_t disk_bytes_read();

}  // namespace penstock::bench
