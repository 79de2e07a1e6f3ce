// SPDX-License-Identifier: Apache-2.0
// Data sets that the rows are measured on. Each data set is made once, in a folder of Settings::data, and used again as
// long as it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "harness.hpp"

namespace penstock::bench {

struct Store {
  std::filesystem::path folder;  // the folder of the data set
  std::uint64_t records = 0;
  std::string description;  // where the content came from
};

// The store of the JPEG job: 4,000 pictures of 500x375, 4:2:0, quality 90. If `noisy`, the pictures have noise of sigma
// 7 and quality 95.
Store picture_store(const Settings& settings, bool noisy);

// The pictures of `picture_store`, each rewritten by seekable_jpeg. The description has the sizes of both stores.
Store seekable_store(const Settings& settings, bool noisy);

// The pictures of `picture_store`, each with the Huffman tables that suit it best, as `jpegtran -optimize` writes them.
Store own_tables_store(const Settings& settings);

// `records` values of `bytes` random bytes each.
Store value_store(const Settings& settings, std::uint64_t records, std::size_t bytes);

// The values of `value_store` in tar shards of 1,000 samples, as members `bin`.
Store shard_store(const Settings& settings, std::uint64_t records, std::size_t bytes);

// Records of `bytes` random bytes as "bin", each with a label, in four tar shards of 70 MB each: shard-000000.tar to
// shard-000003.tar.
Store labelled_shards(const Settings& settings, std::size_t bytes);

// 1.2 million small records. Their keys don't follow from their numbers, so they must be read
// ("class0042/img_00001234.jpg").
Store named_store(const Settings& settings);

// slide.svs with 20,000 x 20,000 pixels, tiles of 256, 4:2:0, quality 80, as make_slides draws it. @throws
// std::runtime_error if make_slides was not built.
Store drawn_slide(const Settings& settings);
// The slide of `drawn_slide`, with only one level.
Store single_level_slide(const Settings& settings);
// The slide of `drawn_slide`, with only one level, and with RGB tiles in JPEG 2000.
Store jpeg2000_slide(const Settings& settings);
// slide.tif with the pixels of a drawn slide's level 0, in tiles of deflate with predictor 2.
Store deflate_slide(const Settings& settings);
// 0.svs to 7.svs, each with 4,000 x 4,000 pixels and one level.
Store cohort_of_slides(const Settings& settings);
// slide.svs with 82,000 x 82,000 pixels, in which a few hundred different tiles are repeated.
Store wide_slide(const Settings& settings);

// 8,192 images u8[96, 96, 3], as "x" in `gzip.h5` (gzip 4, chunks of 32 images) and as "x" in `contiguous.h5`.
Store image_hdf5(const Settings& settings);

// 262,144 compressed chunks of one row each, as "x" in `chunks.h5`.
Store many_chunks_hdf5(const Settings& settings);

// Returns the path of the data file of an LMDB store, such as the store of `picture_store`.
std::filesystem::path data_file(const Store& store);

// Removes a file from the page cache, including the pages that this process has mapped.
void drop_cache(const std::filesystem::path& file);

// Returns how many bytes have been read from disks for this process, from /proc/self/io.
std::uint64_t disk_bytes_read();

}  // namespace penstock::bench
