# SPDX-License-Identifier: Apache-2.0
# FindBlosc: target Blosc::Blosc, the library libblosc (not its successor, libblosc2); variables Blosc_FOUND, Blosc_VERSION.
find_path(Blosc_INCLUDE_DIR blosc.h)
find_library(Blosc_LIBRARY NAMES blosc)
mark_as_advanced(Blosc_INCLUDE_DIR Blosc_LIBRARY)

if(Blosc_INCLUDE_DIR AND EXISTS "${Blosc_INCLUDE_DIR}/blosc.h")
  file(STRINGS "${Blosc_INCLUDE_DIR}/blosc.h" _blosc_lines REGEX "^#define[ \t]+BLOSC_VERSION_(MAJOR|MINOR|RELEASE)[ \t]+[0-9]+")
  if(_blosc_lines MATCHES "MAJOR[ \t]+([0-9]+).*MINOR[ \t]+([0-9]+).*RELEASE[ \t]+([0-9]+)")
    set(Blosc_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
  unset(_blosc_lines)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Blosc REQUIRED_VARS Blosc_LIBRARY Blosc_INCLUDE_DIR VERSION_VAR Blosc_VERSION)

if(Blosc_FOUND AND NOT TARGET Blosc::Blosc)
  add_library(Blosc::Blosc UNKNOWN IMPORTED)
  set_target_properties(Blosc::Blosc PROPERTIES
    IMPORTED_LOCATION "${Blosc_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Blosc_INCLUDE_DIR}")
endif()
