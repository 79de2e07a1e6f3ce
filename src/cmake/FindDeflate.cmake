# SPDX-License-Identifier: Apache-2.0
# FindDeflate: target Deflate::Deflate, the library libdeflate; variables Deflate_FOUND, Deflate_VERSION. Only its newer
# versions bring a package configuration.
find_path(Deflate_INCLUDE_DIR libdeflate.h)
find_library(Deflate_LIBRARY NAMES deflate)
mark_as_advanced(Deflate_INCLUDE_DIR Deflate_LIBRARY)

if(Deflate_INCLUDE_DIR AND EXISTS "${Deflate_INCLUDE_DIR}/libdeflate.h")
  file(STRINGS "${Deflate_INCLUDE_DIR}/libdeflate.h" _deflate_line REGEX "^#define[ \t]+LIBDEFLATE_VERSION_STRING[ \t]+\"")
  if(_deflate_line MATCHES "\"([0-9.]+)\"")
    set(Deflate_VERSION "${CMAKE_MATCH_1}")
  endif()
  unset(_deflate_line)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Deflate REQUIRED_VARS Deflate_LIBRARY Deflate_INCLUDE_DIR VERSION_VAR Deflate_VERSION)

if(Deflate_FOUND AND NOT TARGET Deflate::Deflate)
  add_library(Deflate::Deflate UNKNOWN IMPORTED)
  set_target_properties(Deflate::Deflate PROPERTIES
    IMPORTED_LOCATION "${Deflate_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Deflate_INCLUDE_DIR}")
endif()
