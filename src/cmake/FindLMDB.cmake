# SPDX-License-Identifier: Apache-2.0
# FindLMDB: target LMDB::LMDB; variables LMDB_FOUND, LMDB_VERSION. LMDB has no package configuration of its own.
find_path(LMDB_INCLUDE_DIR lmdb.h)
find_library(LMDB_LIBRARY NAMES lmdb)
mark_as_advanced(LMDB_INCLUDE_DIR LMDB_LIBRARY)

if(LMDB_INCLUDE_DIR AND EXISTS "${LMDB_INCLUDE_DIR}/lmdb.h")
  file(STRINGS "${LMDB_INCLUDE_DIR}/lmdb.h" _lmdb_lines REGEX "^#define[ \t]+MDB_VERSION_(MAJOR|MINOR|PATCH)[ \t]+[0-9]+")
  if(_lmdb_lines MATCHES "MAJOR[ \t]+([0-9]+).*MINOR[ \t]+([0-9]+).*PATCH[ \t]+([0-9]+)")
    set(LMDB_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
  unset(_lmdb_lines)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LMDB REQUIRED_VARS LMDB_LIBRARY LMDB_INCLUDE_DIR VERSION_VAR LMDB_VERSION)

if(LMDB_FOUND AND NOT TARGET LMDB::LMDB)
  add_library(LMDB::LMDB UNKNOWN IMPORTED)
  set_target_properties(LMDB::LMDB PROPERTIES
    IMPORTED_LOCATION "${LMDB_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LMDB_INCLUDE_DIR}")
endif()
