# SPDX-License-Identifier: Apache-2.0
# Runs `limits --quick` (LIMITS) in an empty folder (WORK) and checks the shape of its JSON, not its numbers.
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

function(run result)
  execute_process(COMMAND "${LIMITS}" ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code)
  message("${out}${err}")
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "limits ${ARGN}: exit code ${code}")
  endif()
  set(${result} "${out}" PARENT_SCOPE)
endfunction()

set(expected jpeg_vs_raw jpeg_vs_raw_noisy jpeg_vs_raw_libjpeg jpeg_job_vs_libjpeg jpeg_vs_plain part_vs_plain two_views reordered_vs_direct staged_vs_direct boxes_vs_none map_batches_vs_none mixup_vs_by_hand jpeg_seekable_q90 jpeg_seekable_noisy jpeg_decode_vs_libjpeg jpeg_decode_noisy jpeg_decode_own_tables
  jpeg_scaled jpeg_scaled_random png_photo png_tile png_mask png_encode png_encode_mask tiff_strips tiff_tiles webp
  threads_1_to_2 empty_ns tiny_threads records_vs_memcpy lmdb_view lmdb_copy lmdb_cold_20k lmdb_cold_110k webdataset_vs_lmdb
  remote_cold_110k remote_cold_110k_blocks remote_cold_27k remote_cold_27k_blocks remote_cold_4k remote_cold_4k_blocks remote_cold_1k remote_cold_1k_blocks remote_cpu_110k remote_warm remote_memory
  csv_vs_from_chars json_lines_vs_parse
  hdf5_gzip_vs_raw hdf5_gzip_vs_h5dread hdf5_contiguous hdf5_block_shuffle hdf5_open_262144
  slide_vs_raw slide_random_vs_raw slide_vs_libjpeg slide_offgrid_vs_raw slide_224_vs_raw slide_offgrid_random_vs_raw slide_threads slide_jp2k_vs_raw jp2k_level_less slide_deflate_vs_raw slide_mpp_vs_raw slide_tissue_vs_raw slide_vs_openslide slide_random_vs_openslide slide_deflate_vs_openslide tile_copy tile_encode_vs_raw tile_encode_vs_vips cache_warm
  first_batch memory_epochs resize_vs_libyuv)
run(listed --list)
foreach(name IN LISTS expected)
  if(NOT listed MATCHES "(^|\n)${name} ")
    message(FATAL_ERROR "--list does not show ${name}")
  endif()
  if(listed MATCHES "(^|\n)${name} [^\n]*\\[not here")
    list(REMOVE_ITEM expected ${name})
  endif()
endforeach()

function(check_file file rows)
  file(READ "${file}" json)
  string(JSON type TYPE "${json}")
  string(JSON count LENGTH "${json}")
  list(LENGTH rows wanted)
  if(NOT type STREQUAL "ARRAY" OR NOT count EQUAL wanted)
    message(FATAL_ERROR "${file} is an ${type} of ${count}, not an ARRAY of ${wanted}")
  endif()
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    list(GET rows ${i} name)
    string(JSON value GET "${json}" ${i} name)
    if(NOT value STREQUAL name)
      message(FATAL_ERROR "row ${i} is ${value}, not ${name}")
    endif()
    foreach(key IN ITEMS ours limit ratio goal rounds)
      string(JSON type TYPE "${json}" ${i} ${key})
      string(JSON value GET "${json}" ${i} ${key})
      if(NOT type STREQUAL "NUMBER" OR NOT value GREATER 0)
        message(FATAL_ERROR "${name}: ${key} is ${value} (${type}), not a number above 0")
      endif()
    endforeach()
    string(JSON type TYPE "${json}" ${i} unit)
    if(NOT type STREQUAL "STRING")
      message(FATAL_ERROR "${name}: unit is ${type}, not STRING")
    endif()
  endforeach()
endfunction()

run(out --quick --data "${WORK}/data" --json "${WORK}/all.json")
check_file("${WORK}/all.json" "${expected}")
# Again, on the data that is there now, and with a choice of rows; they come in their own order.
run(out --quick --data "${WORK}/data" --json "${WORK}/some.json" --row lmdb_view --row empty_ns)
check_file("${WORK}/some.json" "empty_ns;lmdb_view")

execute_process(COMMAND "${LIMITS}" --row no_such_row OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE code)
if(NOT code EQUAL 2)
  message(FATAL_ERROR "--row no_such_row: exit code ${code}, not 2")
endif()
file(REMOVE_RECURSE "${WORK}")
