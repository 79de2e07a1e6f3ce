// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <thread>

namespace penstock::bench {

namespace {

#ifdef PENSTOCK_BENCH_LIBYUV
constexpr auto no_libyuv = "";
#else
constexpr auto no_libyuv = "built without libyuv (Debian: libyuv-dev)";
#endif

#ifdef PENSTOCK_BENCH_PROGRAMS
constexpr auto no_slide = "";
#else
constexpr auto no_slide =
    "built without the examples, one of which draws the slide (-DPENSTOCK_EXAMPLES=ON -DPENSTOCK_TOOL=ON)";
#endif

#ifdef PENSTOCK_BENCH_OPENSLIDE
constexpr auto no_openslide = "";
#else
constexpr auto no_openslide = "built without OpenSlide (Debian: libopenslide-dev)";
#endif

#ifdef PENSTOCK_BENCH_VIPS
constexpr auto no_vips = "";
#else
constexpr auto no_vips = "built without vips, the program (Debian: libvips-tools)";
#endif

}  // namespace

std::vector<RowEntry> all_rows() {
  const auto higher = Better::higher;
  const auto lower = Better::lower;
  const auto ratio = Judged::ratio;
  const auto ours = Judged::ours;
  const char* const one_core = std::thread::hardware_concurrency() < 2 ? "this machine has one core" : "";
  return {
      {{"jpeg_vs_raw", "LMDB JPEG -> random-resized-crop 224 -> flip -> batch | raw loop of the same kernels",
        "images/s", 0.97, higher, ratio},
       jpeg_vs_raw},
      {{"jpeg_vs_raw_noisy", "the same with noisy pictures", "images/s", 0.97, higher, ratio}, jpeg_vs_raw_noisy},
      {{"jpeg_vs_raw_libjpeg", "the JPEG job | raw loop of the same kernels, but of libjpeg", "images/s", 1.5, higher,
        ratio},
       jpeg_vs_raw_libjpeg},
      {{"jpeg_job_vs_libjpeg", "the JPEG job | the same with libjpeg for all", "images/s", 1.5, higher, ratio},
       jpeg_job_vs_libjpeg},
      {{"jpeg_vs_plain",
        "the same | full decode, crop, resize, flip, fp32 NCHW, fresh buffers, collate, on this engine", "images/s",
        1.5, higher, ratio},
       jpeg_vs_plain},
      {{"part_vs_plain", "the JPEG job as a part of a join | without a join", "images/s", 0.97, higher, ratio},
       part_vs_plain},
      {{"two_views", "the JPEG job, two crops by copy_field | one crop", "CPU us/image", 2.0, lower, ratio}, two_views},
      {{"reordered_vs_direct", "the JPEG job with a filter that keeps all | without", "images/s", 0.95, higher, ratio},
       reordered_vs_direct},
      {{"staged_vs_direct", "the JPEG job, copied to a device that the host emulates | on the host", "images/s", 0.92,
        higher, ratio},
       staged_vs_direct},
      {{"map_batches_vs_none", "the JPEG job with a map_batches that does nothing | without", "images/s", 0.98, higher,
        ratio},
       map_batches_vs_none},
      {{"mixup_vs_by_hand", "the JPEG job, normalized, with mixup | the caller mixes in its loop", "images/s", 0.97,
        higher, ratio},
       mixup_vs_by_hand},
      {{"jpeg_seekable_q90", "the JPEG job on seekable files | on the ordinary ones", "images/s", 1.1, higher, ratio},
       jpeg_seekable_q90},
      {{"jpeg_seekable_noisy", "the same with noisy pictures", "images/s", 1.2, higher, ratio}, jpeg_seekable_noisy},
      {{"jpeg_decode_vs_libjpeg",
        "decode of the JPEG job's crops | plain libjpeg crop_scanline + skip_scanlines, 1 thread", "images/s", 1.85,
        higher, ratio},
       jpeg_decode_vs_libjpeg},
      {{"jpeg_decode_noisy", "the same of noisy pictures", "images/s", 2.05, higher, ratio}, jpeg_decode_noisy},
      {{"jpeg_decode_own_tables", "the same of pictures with Huffman tables of their own", "images/s", 1.65, higher,
        ratio},
       jpeg_decode_own_tables},
      {{"jpeg_scaled",
        "photographs of 12 MP -> short side 256 -> middle 224, `scale = fit`, 1 thread | the same, decoded in full",
        "images/s", 2.2, higher, ratio},
       jpeg_scaled},
      {{"jpeg_scaled_random", "the same with a random-resized crop of 224 | the same, decoded in full", "images/s", 1,
        higher, ratio},
       jpeg_scaled_random},
      {{"png_photo", "decode of PNGs of 500 x 375 | plain libpng, 1 thread", "images/s", 3, higher, ratio}, png_photo},
      {{"png_tile", "the same of 256 x 256", "images/s", 3, higher, ratio}, png_tile},
      {{"png_mask", "decode of masks of 1,024 x 1,024 with a palette, as labels | plain libpng, 1 thread", "images/s",
        7, higher, ratio},
       png_mask},
      {{"png_encode", "encode of pictures of 500 x 375 as PNG | plain libpng with its defaults, 1 thread", "images/s",
        7, higher, ratio},
       png_encode},
      {{"png_encode_mask", "the same of masks of 1,024 x 1,024", "images/s", 2.8, higher, ratio}, png_encode_mask},
      {{"tiff_strips", "decode of TIFFs of 500 x 375, Deflate in strips | plain libtiff, 1 thread", "images/s", 0.97,
        higher, ratio},
       tiff_strips},
      {{"tiff_tiles", "the same in tiles of 128 x 128", "images/s", 0.97, higher, ratio}, tiff_tiles},
      {{"webp", "decode of lossy WebPs of 500 x 375 | plain libwebp, 1 thread", "images/s", 0.97, higher, ratio}, webp},
      {{"threads_1_to_2", "speed-up of the JPEG job from 1 to 2 threads | that of the raw loop", "x", 0.97, higher,
        ratio},
       threads_1_to_2,
       one_core},
      {{"empty_ns", "1,024 records of 1 KB -> batch of 64, 1 thread | memcpy by hand", "ns/sample", 90, lower, ours},
       empty_ns},
      {{"tiny_threads",
        "the same, with 2 threads: how much faster than with 1 | by hand, threads that take 64 records at once", "x",
        1.7, higher, ours},
       tiny_threads,
       one_core},
      {{"records_vs_memcpy", "records of 150 KB in memory, shuffled -> batch | memcpy into a ring", "GB/s", 0.9, higher,
        ratio},
       records_vs_memcpy},
      {{"lmdb_view", "random values of 110 KB, warm: XXH3 in place | mdb_get + XXH3", "GB/s", 0.97, higher, ratio},
       lmdb_view},
      {{"lmdb_copy", "random values of 110 KB, warm, into the batch | mdb_get + memcpy into a ring", "GB/s", 0.95,
        higher, ratio},
       lmdb_copy},
      {{"lmdb_cold_20k", "random values of 20 KB, page cache empty | one thread's plain mdb_get", "values/s", 8, higher,
        ratio, 0.25, false},
       lmdb_cold_20k},
      {{"lmdb_cold_110k", "random values of 110 KB, page cache empty | one thread's plain mdb_get", "values/s", 6,
        higher, ratio, 0.25, false},
       lmdb_cold_110k},
      {{"webdataset_vs_lmdb",
        "tar shards, random values of 110 KB, warm: XXH3 in place | the same from LMDB, on this engine", "GB/s", 0.97,
        higher, ratio},
       webdataset_vs_lmdb},
      {{"csv_vs_from_chars",
        "lines of 16 numbers, shuffled -> f32[16] -> batch | std::from_chars on the lines in memory", "records/s", 0.8,
        higher, ratio},
       csv_vs_from_chars},
      {{"json_lines_vs_parse",
        "lines of JSON, an array of 16 numbers, shuffled -> f32[16] -> batch | std::from_chars on the numbers in "
        "memory",
        "records/s", 0.6, higher, ratio},
       json_lines_vs_parse},
      {{"hdf5_gzip_vs_raw",
        "HDF5 u8[96, 96, 3], gzip 4 in chunks of 32, in order -> batch | raw chunks + libdeflate into a ring",
        "images/s", 0.97, higher, ratio},
       hdf5_gzip_vs_raw},
      {{"hdf5_gzip_vs_h5dread", "the same | H5Dread of whole chunks, which takes one thread", "images/s", 4.2, higher,
        ratio},
       hdf5_gzip_vs_h5dread},
      {{"hdf5_contiguous", "the same images contiguous, shuffled -> batch | pread into a ring", "images/s", 0.95,
        higher, ratio},
       hdf5_contiguous},
      {{"hdf5_block_shuffle", "the gzip job shuffled by chunks | in order", "images/s", 0.9, higher, ratio},
       hdf5_block_shuffle},
      {{"hdf5_open_262144", "opening 262,144 compressed chunks and reading a random row, warm | the HDF5 library", "ms",
        50, lower, ours},
       hdf5_open_262144},
      {{"slide_vs_raw", "a slide's own tiles of 256 px, in order -> batch | pread + decode loop of the same core",
        "tiles/s", 0.97, higher, ratio},
       slide_vs_raw,
       no_slide},
      {{"slide_random_vs_raw", "the same, shuffled", "tiles/s", 0.97, higher, ratio}, slide_random_vs_raw, no_slide},
      {{"slide_vs_libjpeg", "the same in order | that loop, but of libjpeg", "tiles/s", 1.5, higher, ratio},
       slide_vs_libjpeg,
       no_slide},
      {{"slide_offgrid_vs_raw", "256 px, half a tile off the grid, in order | a loop that keeps two rows of tiles",
        "images/s", 0.95, higher, ratio},
       slide_offgrid_vs_raw,
       no_slide},
      {{"slide_224_vs_raw", "224 px in order | that loop", "images/s", 0.95, higher, ratio},
       slide_224_vs_raw,
       no_slide},
      {{"slide_offgrid_random_vs_raw",
        "256 px, half a tile off the grid, shuffled over 102,400 | a loop that decodes the parts of the tiles",
        "images/s", 0.95, higher, ratio},
       slide_offgrid_random_vs_raw,
       no_slide},
      {{"slide_threads", "speed-up of slide_vs_raw's job from 1 to 2 threads | that of the loop", "x", 0.97, higher,
        ratio},
       slide_threads,
       *one_core != '\0' ? one_core : no_slide},
      {{"slide_jp2k_vs_raw", "a slide's own tiles of JPEG 2000, 256 px, in order | pread + OpenJPEG loop", "tiles/s",
        0.97, higher, ratio},
       slide_jp2k_vs_raw,
       no_slide},
      {{"jp2k_level_less", "tiles of JPEG 2000 by OpenJPEG, without their finest level | in full, 1 thread", "tiles/s",
        1, higher, ratio},
       jp2k_level_less,
       no_slide},
      {{"slide_deflate_vs_raw", "a slide's own tiles of deflate, 256 px, in order | pread + libdeflate + sums of rows",
        "tiles/s", 0.97, higher, ratio},
       slide_deflate_vs_raw,
       no_slide},
      {{"slide_mpp_vs_raw",
        "256 px of 1 um from a level of 0.5 um, in order | decode whole rows of tiles + our resize of the same boxes",
        "images/s", 0.95, higher, ratio},
       slide_mpp_vs_raw,
       no_slide},
      {{"slide_tissue_vs_raw", "opening eight slides with masks of tissue, of their one level | decoding its tiles",
        "tiles/s", 0.9, higher, ratio},
       slide_tissue_vs_raw,
       no_slide},
      {{"slide_vs_openslide", "a slide's own tiles of 256 px, in order -> batch | read_region, a handle a thread",
        "tiles/s", 9, higher, ratio},
       slide_vs_openslide,
       *no_openslide != '\0' ? no_openslide : no_slide},
      {{"slide_random_vs_openslide", "the same, shuffled", "tiles/s", 9, higher, ratio},
       slide_random_vs_openslide,
       *no_openslide != '\0' ? no_openslide : no_slide},
      {{"slide_deflate_vs_openslide", "a slide's own tiles of deflate, in order | read_region, a handle a thread",
        "tiles/s", 2, higher, ratio},
       slide_deflate_vs_openslide,
       *no_openslide != '\0' ? no_openslide : no_slide},
      {{"tile_copy",
        "tiles of four slides -> LMDB, as they are stored | mdb_put of the same values, appended; both synced",
        "tiles/s", 0.95, higher, ratio},
       tile_copy,
       no_slide},
      {{"tile_encode_vs_raw", "a slide's tiles -> JPEG -> LMDB, synced | pread + decode + encode loop", "tiles/s", 0.95,
        higher, ratio},
       tile_encode_vs_raw,
       no_slide},
      {{"tile_encode_vs_vips", "penstock tile, a slide's tiles -> JPEG -> a folder of files | vips dzsave --depth one",
        "tiles/s", 4, higher, ratio},
       tile_encode_vs_vips,
       *no_vips != '\0' ? no_vips : no_slide},
      {{"cache_warm",
        "LMDB JPEG -> decode -> resize 224 -> cache on disk, warm, shuffled | the cached records as an LMDB data set",
        "images/s", 0.95, higher, ratio},
       cache_warm},
      {{"first_batch",
        "process start to first batch of a shuffled LMDB of 1.2 M records, warm | by hand, listing the keys", "s", 1,
        lower, ours},
       first_batch},
      {{"memory_epochs",
        "resident memory after epoch 1,000, loader rebuilt each epoch | 1.01 x that after epoch 20 + 4 MiB", "MiB", 1,
        lower, ratio},
       memory_epochs},
      {{"resize_vs_libyuv", "400x300 -> 224x224 RGB, antialiased, tables included | libyuv's bilinear, not antialiased",
        "us/image", 1.6, lower, ratio},
       resize_vs_libyuv,
       no_libyuv},
  };
}

}  // namespace penstock::bench
