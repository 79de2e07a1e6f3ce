# SPDX-License-Identifier: Apache-2.0
# FindHDF5C: target HDF5C::HDF5C, the C library of HDF5 built for one process; variables HDF5C_FOUND, HDF5C_VERSION.
# Debian keeps it in a folder of its own, beside builds for MPI.
find_path(HDF5C_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5C_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
mark_as_advanced(HDF5C_INCLUDE_DIR HDF5C_LIBRARY)

if(HDF5C_INCLUDE_DIR AND EXISTS "${HDF5C_INCLUDE_DIR}/H5public.h")
  file(STRINGS "${HDF5C_INCLUDE_DIR}/H5public.h" _hdf5c_line REGEX "^#define[ \t]+H5_VERS_INFO[ \t]+\"")
  if(_hdf5c_line MATCHES "version: ([0-9]+\\.[0-9]+\\.[0-9]+)")
    set(HDF5C_VERSION "${CMAKE_MATCH_1}")
  endif()
  unset(_hdf5c_line)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HDF5C REQUIRED_VARS HDF5C_LIBRARY HDF5C_INCLUDE_DIR VERSION_VAR HDF5C_VERSION)

if(HDF5C_FOUND AND NOT TARGET HDF5C::HDF5C)
  add_library(HDF5C::HDF5C UNKNOWN IMPORTED)
  set_target_properties(HDF5C::HDF5C PROPERTIES
    IMPORTED_LOCATION "${HDF5C_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${HDF5C_INCLUDE_DIR}")
endif()
