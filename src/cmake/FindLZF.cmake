# SPDX-License-Identifier: Apache-2.0
# FindLZF: target LZF::LZF, the library liblzf; variables LZF_FOUND, LZF_VERSION.
find_path(LZF_INCLUDE_DIR liblzf/lzf.h)
find_library(LZF_LIBRARY NAMES lzf)
mark_as_advanced(LZF_INCLUDE_DIR LZF_LIBRARY)

if(LZF_INCLUDE_DIR AND EXISTS "${LZF_INCLUDE_DIR}/liblzf/lzf.h")
  file(STRINGS "${LZF_INCLUDE_DIR}/liblzf/lzf.h" _lzf_line REGEX "^#define[ \t]+LZF_VERSION[ \t]+0x[0-9]+")
  if(_lzf_line MATCHES "0x0?([0-9])([0-9][0-9])")
    set(LZF_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  endif()
  unset(_lzf_line)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LZF REQUIRED_VARS LZF_LIBRARY LZF_INCLUDE_DIR VERSION_VAR LZF_VERSION)

if(LZF_FOUND AND NOT TARGET LZF::LZF)
  add_library(LZF::LZF UNKNOWN IMPORTED)
  set_target_properties(LZF::LZF PROPERTIES
    IMPORTED_LOCATION "${LZF_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LZF_INCLUDE_DIR}")
endif()
