# SPDX-License-Identifier: Apache-2.0
# FindOpenJP2: target OpenJP2::OpenJP2; variables OpenJP2_FOUND, OpenJP2_VERSION. Debian's own package configuration names
# programs that its development package doesn't bring, and so can't be used.
find_package(PkgConfig QUIET)
pkg_check_modules(PC_OPENJP2 QUIET libopenjp2)
find_path(OpenJP2_INCLUDE_DIR openjpeg.h HINTS ${PC_OPENJP2_INCLUDE_DIRS} PATH_SUFFIXES openjpeg-2.6 openjpeg-2.5)
find_library(OpenJP2_LIBRARY NAMES openjp2 HINTS ${PC_OPENJP2_LIBRARY_DIRS})
mark_as_advanced(OpenJP2_INCLUDE_DIR OpenJP2_LIBRARY)

if(OpenJP2_INCLUDE_DIR AND EXISTS "${OpenJP2_INCLUDE_DIR}/opj_config.h")
  file(STRINGS "${OpenJP2_INCLUDE_DIR}/opj_config.h" _openjp2_lines REGEX "^#define[ \t]+OPJ_VERSION_(MAJOR|MINOR|BUILD)[ \t]+[0-9]+")
  if(_openjp2_lines MATCHES "MAJOR[ \t]+([0-9]+).*MINOR[ \t]+([0-9]+).*BUILD[ \t]+([0-9]+)")
    set(OpenJP2_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
  unset(_openjp2_lines)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenJP2 REQUIRED_VARS OpenJP2_LIBRARY OpenJP2_INCLUDE_DIR VERSION_VAR OpenJP2_VERSION)

if(OpenJP2_FOUND AND NOT TARGET OpenJP2::OpenJP2)
  add_library(OpenJP2::OpenJP2 UNKNOWN IMPORTED)
  set_target_properties(OpenJP2::OpenJP2 PROPERTIES
    IMPORTED_LOCATION "${OpenJP2_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${OpenJP2_INCLUDE_DIR}")
endif()
