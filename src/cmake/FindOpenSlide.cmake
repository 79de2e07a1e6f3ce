# SPDX-License-Identifier: Apache-2.0
# FindOpenSlide: target OpenSlide::OpenSlide; variables OpenSlide_FOUND, OpenSlide_VERSION.
find_package(PkgConfig QUIET)
pkg_check_modules(PC_OPENSLIDE QUIET openslide)
find_path(OpenSlide_INCLUDE_DIR openslide.h HINTS ${PC_OPENSLIDE_INCLUDE_DIRS} PATH_SUFFIXES openslide)
find_library(OpenSlide_LIBRARY NAMES openslide HINTS ${PC_OPENSLIDE_LIBRARY_DIRS})
set(OpenSlide_VERSION "${PC_OPENSLIDE_VERSION}")
mark_as_advanced(OpenSlide_INCLUDE_DIR OpenSlide_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenSlide REQUIRED_VARS OpenSlide_LIBRARY OpenSlide_INCLUDE_DIR VERSION_VAR OpenSlide_VERSION)

if(OpenSlide_FOUND AND NOT TARGET OpenSlide::OpenSlide)
  add_library(OpenSlide::OpenSlide UNKNOWN IMPORTED)
  set_target_properties(OpenSlide::OpenSlide PROPERTIES
    IMPORTED_LOCATION "${OpenSlide_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${OpenSlide_INCLUDE_DIR}")
endif()
