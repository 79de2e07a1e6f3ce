# SPDX-License-Identifier: Apache-2.0
# FindXXHash: target XXHash::XXHash (headers: define XXH_INLINE_ALL before xxhash.h); variables XXHash_FOUND, XXHash_VERSION.
find_path(XXHash_INCLUDE_DIR xxhash.h)
mark_as_advanced(XXHash_INCLUDE_DIR)

if(XXHash_INCLUDE_DIR AND EXISTS "${XXHash_INCLUDE_DIR}/xxhash.h")
  file(STRINGS "${XXHash_INCLUDE_DIR}/xxhash.h" _xxhash_lines
    REGEX "^#[ \t]*define[ \t]+XXH_VERSION_(MAJOR|MINOR|RELEASE)[ \t]+[0-9]+")
  if(_xxhash_lines MATCHES "MAJOR[ \t]+([0-9]+).*MINOR[ \t]+([0-9]+).*RELEASE[ \t]+([0-9]+)")
    set(XXHash_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
  unset(_xxhash_lines)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XXHash REQUIRED_VARS XXHash_INCLUDE_DIR VERSION_VAR XXHash_VERSION)

if(XXHash_FOUND AND NOT TARGET XXHash::XXHash)
  add_library(XXHash::XXHash INTERFACE IMPORTED)
  set_target_properties(XXHash::XXHash PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${XXHash_INCLUDE_DIR}")
endif()
