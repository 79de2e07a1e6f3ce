# SPDX-License-Identifier: Apache-2.0
# FindLZ4: target LZ4::LZ4, the library liblz4; variables LZ4_FOUND, LZ4_VERSION.
find_path(LZ4_INCLUDE_DIR lz4.h)
find_library(LZ4_LIBRARY NAMES lz4)
mark_as_advanced(LZ4_INCLUDE_DIR LZ4_LIBRARY)

if(LZ4_INCLUDE_DIR AND EXISTS "${LZ4_INCLUDE_DIR}/lz4.h")
  file(STRINGS "${LZ4_INCLUDE_DIR}/lz4.h" _lz4_lines REGEX "^#define[ \t]+LZ4_VERSION_(MAJOR|MINOR|RELEASE)[ \t]+[0-9]+")
  if(_lz4_lines MATCHES "MAJOR[ \t]+([0-9]+).*MINOR[ \t]+([0-9]+).*RELEASE[ \t]+([0-9]+)")
    set(LZ4_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
  unset(_lz4_lines)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LZ4 REQUIRED_VARS LZ4_LIBRARY LZ4_INCLUDE_DIR VERSION_VAR LZ4_VERSION)

if(LZ4_FOUND AND NOT TARGET LZ4::LZ4)
  add_library(LZ4::LZ4 UNKNOWN IMPORTED)
  set_target_properties(LZ4::LZ4 PROPERTIES
    IMPORTED_LOCATION "${LZ4_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LZ4_INCLUDE_DIR}")
endif()
