// SPDX-License-Identifier: Apache-2.0
// All rows. A row is a function in a file of this folder, and an entry in rows.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace penstock::bench {

inline constexpr std::uint64_t batch_rows = 64;
inline constexpr std::size_t value_bytes = 110'000;  // about the size of a photograph

using RowFunction = Row (*)(const RowSpec&, const Settings&);

Row jpeg_vs_raw(const RowSpec& spec, const Settings& settings);
Row jpeg_vs_raw_noisy(const RowSpec& spec, const Settings& settings);
Row jpeg_vs_raw_libjpeg(const RowSpec& spec, const Settings& settings);
Row jpeg_job_vs_libjpeg(const RowSpec& spec, const Settings& settings);
Row jpeg_vs_plain(const RowSpec& spec, const Settings& settings);
Row part_vs_plain(const RowSpec& spec, const Settings& settings);
Row two_views(const RowSpec& spec, const Settings& settings);
Row reordered_vs_direct(const RowSpec& spec, const Settings& settings);
Row staged_vs_direct(const RowSpec& spec, const Settings& settings);
Row boxes_vs_none(const RowSpec& spec, const Settings& settings);
Row map_batches_vs_none(const RowSpec& spec, const Settings& settings);
Row mixup_vs_by_hand(const RowSpec& spec, const Settings& settings);
Row jpeg_seekable_q90(const RowSpec& spec, const Settings& settings);
Row jpeg_seekable_noisy(const RowSpec& spec, const Settings& settings);
Row jpeg_decode_vs_libjpeg(const RowSpec& spec, const Settings& settings);
Row jpeg_decode_noisy(const RowSpec& spec, const Settings& settings);
Row jpeg_decode_own_tables(const RowSpec& spec, const Settings& settings);
Row jpeg_scaled(const RowSpec& spec, const Settings& settings);
Row jpeg_scaled_random(const RowSpec& spec, const Settings& settings);
Row png_photo(const RowSpec& spec, const Settings& settings);
Row png_tile(const RowSpec& spec, const Settings& settings);
Row png_mask(const RowSpec& spec, const Settings& settings);
Row png_encode(const RowSpec& spec, const Settings& settings);
Row png_encode_mask(const RowSpec& spec, const Settings& settings);
Row tiff_strips(const RowSpec& spec, const Settings& settings);
Row tiff_tiles(const RowSpec& spec, const Settings& settings);
Row webp(const RowSpec& spec, const Settings& settings);
Row threads_1_to_2(const RowSpec& spec, const Settings& settings);
Row empty_ns(const RowSpec& spec, const Settings& settings);
Row tiny_threads(const RowSpec& spec, const Settings& settings);
Row records_vs_memcpy(const RowSpec& spec, const Settings& settings);
Row lmdb_view(const RowSpec& spec, const Settings& settings);
Row lmdb_copy(const RowSpec& spec, const Settings& settings);
Row lmdb_cold_20k(const RowSpec& spec, const Settings& settings);
Row lmdb_cold_110k(const RowSpec& spec, const Settings& settings);
Row webdataset_vs_lmdb(const RowSpec& spec, const Settings& settings);
Row remote_cold_110k(const RowSpec& spec, const Settings& settings);
Row remote_cold_110k_blocks(const RowSpec& spec, const Settings& settings);
Row remote_cold_27k(const RowSpec& spec, const Settings& settings);
Row remote_cold_27k_blocks(const RowSpec& spec, const Settings& settings);
Row remote_cold_4k(const RowSpec& spec, const Settings& settings);
Row remote_cold_4k_blocks(const RowSpec& spec, const Settings& settings);
Row remote_cold_1k(const RowSpec& spec, const Settings& settings);
Row remote_cold_1k_blocks(const RowSpec& spec, const Settings& settings);
Row remote_cpu_110k(const RowSpec& spec, const Settings& settings);
Row remote_warm(const RowSpec& spec, const Settings& settings);
Row remote_memory(const RowSpec& spec, const Settings& settings);
Row csv_vs_from_chars(const RowSpec& spec, const Settings& settings);
Row json_lines_vs_parse(const RowSpec& spec, const Settings& settings);
Row hdf5_gzip_vs_raw(const RowSpec& spec, const Settings& settings);
Row hdf5_gzip_vs_h5dread(const RowSpec& spec, const Settings& settings);
Row hdf5_contiguous(const RowSpec& spec, const Settings& settings);
Row hdf5_block_shuffle(const RowSpec& spec, const Settings& settings);
Row hdf5_open_262144(const RowSpec& spec, const Settings& settings);
Row slide_vs_raw(const RowSpec& spec, const Settings& settings);
Row slide_random_vs_raw(const RowSpec& spec, const Settings& settings);
Row slide_vs_libjpeg(const RowSpec& spec, const Settings& settings);
Row slide_offgrid_vs_raw(const RowSpec& spec, const Settings& settings);
Row slide_224_vs_raw(const RowSpec& spec, const Settings& settings);
Row slide_offgrid_random_vs_raw(const RowSpec& spec, const Settings& settings);
Row slide_threads(const RowSpec& spec, const Settings& settings);
Row slide_jp2k_vs_raw(const RowSpec& spec, const Settings& settings);
Row jp2k_level_less(const RowSpec& spec, const Settings& settings);
Row slide_deflate_vs_raw(const RowSpec& spec, const Settings& settings);
Row slide_mpp_vs_raw(const RowSpec& spec, const Settings& settings);
Row slide_tissue_vs_raw(const RowSpec& spec, const Settings& settings);
Row slide_vs_openslide(const RowSpec& spec, const Settings& settings);
Row slide_random_vs_openslide(const RowSpec& spec, const Settings& settings);
Row slide_deflate_vs_openslide(const RowSpec& spec, const Settings& settings);
Row tile_copy(const RowSpec& spec, const Settings& settings);
Row tile_encode_vs_raw(const RowSpec& spec, const Settings& settings);
Row tile_encode_vs_vips(const RowSpec& spec, const Settings& settings);
Row cache_warm(const RowSpec& spec, const Settings& settings);
Row first_batch(const RowSpec& spec, const Settings& settings);
Row memory_epochs(const RowSpec& spec, const Settings& settings);
Row resize_vs_libyuv(const RowSpec& spec, const Settings& settings);

struct RowEntry {
  RowSpec spec;
  RowFunction run;
  std::string unavailable = {};  // why this row can't run in this build or on this machine
};
std::vector<RowEntry> all_rows();

}  // namespace penstock::bench
