# SPDX-License-Identifier: Apache-2.0
# Every third-party package the project knows, one row each:
#   penstock_package(NAME find_package-name DEBIAN package TARGET imported-target
#                    [HEADER_ONLY]           used only to build: never exported, never needed by a user
#                    [PC module]             its pkg-config module, for links with static components
#                    [LIBS -lx ...]          or what to link instead, where not everyone ships a module
#                    [CFLAGS -Ix ...]        and where its headers are, where ours include them
#                    [OLDEST 1.2]            the first version that will do
#                    [MODULE]                found by our Find<NAME>.cmake, which is then installed with the package
#                    [ALSO target ...])      other spellings of the target, and others of its targets
# Properties are global, so a row can be read from any folder.
function(penstock_package)
  cmake_parse_arguments(PARSE_ARGV 0 P "HEADER_ONLY;MODULE" "NAME;DEBIAN;TARGET;PC;OLDEST" "LIBS;CFLAGS;ALSO")
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_PACKAGES ${P_NAME})
  foreach(key IN ITEMS DEBIAN TARGET PC OLDEST LIBS CFLAGS ALSO HEADER_ONLY MODULE)
    set_property(GLOBAL PROPERTY PENSTOCK_PACKAGE_${P_NAME}_${key} "${P_${key}}")
  endforeach()
endfunction()

penstock_package(NAME TBB DEBIAN libtbb-dev TARGET TBB::tbb PC tbb)
penstock_package(NAME Threads DEBIAN libc6-dev TARGET Threads::Threads LIBS -pthread)
penstock_package(NAME Random123 DEBIAN librandom123-dev TARGET Random123::Random123 HEADER_ONLY MODULE)
penstock_package(NAME XXHash DEBIAN libxxhash-dev TARGET XXHash::XXHash HEADER_ONLY MODULE)
penstock_package(NAME HDF5C DEBIAN libhdf5-dev TARGET HDF5C::HDF5C PC hdf5 MODULE)
penstock_package(NAME Deflate DEBIAN libdeflate-dev TARGET Deflate::Deflate PC libdeflate MODULE)
penstock_package(NAME Blosc DEBIAN libblosc-dev TARGET Blosc::Blosc PC blosc MODULE)
penstock_package(NAME LZ4 DEBIAN liblz4-dev TARGET LZ4::LZ4 PC liblz4 MODULE)
penstock_package(NAME LZF DEBIAN liblzf-dev TARGET LZF::LZF PC liblzf MODULE)
penstock_package(NAME ZSTD DEBIAN libzstd-dev TARGET ZSTD::ZSTD PC libzstd MODULE)
penstock_package(NAME LMDB DEBIAN liblmdb-dev TARGET LMDB::LMDB LIBS -llmdb MODULE)
penstock_package(NAME JPEG DEBIAN libjpeg62-turbo-dev TARGET JPEG::JPEG PC libjpeg)
penstock_package(NAME PNG DEBIAN libpng-dev TARGET PNG::PNG PC libpng)
penstock_package(NAME TIFF DEBIAN libtiff-dev TARGET TIFF::TIFF PC libtiff-4 OLDEST 4.5)
penstock_package(NAME WebP DEBIAN libwebp-dev TARGET WebP::WebP PC libwebp MODULE)
penstock_package(NAME OpenJP2 DEBIAN libopenjp2-7-dev TARGET OpenJP2::OpenJP2 PC libopenjp2 OLDEST 2.5 MODULE)
# Its pkg-config module names static libraries that Debian does not install with it.
penstock_package(NAME CURL DEBIAN libcurl4-openssl-dev TARGET CURL::libcurl LIBS -lcurl OLDEST 7.85)
penstock_package(NAME pugixml DEBIAN libpugixml-dev TARGET pugixml::pugixml PC pugixml)
penstock_package(NAME ZLIB DEBIAN zlib1g-dev TARGET ZLIB::ZLIB PC zlib)
penstock_package(NAME hwy DEBIAN libhwy-dev TARGET hwy::hwy PC libhwy)
# Of NVIDIA's repository: Debian's own is older. Where its library lies is told by cuda.cmake.
penstock_package(NAME CUDAToolkit DEBIAN cuda-toolkit TARGET CUDA::cudart_static OLDEST 12.8 ALSO CUDA::toolkit LIBS -lcudart_static)
penstock_package(NAME CLI11 DEBIAN libcli11-dev TARGET CLI11::CLI11)
penstock_package(NAME fmt DEBIAN libfmt-dev TARGET fmt::fmt ALSO fmt::fmt-header-only)
penstock_package(NAME nlohmann_json DEBIAN nlohmann-json3-dev TARGET nlohmann_json::nlohmann_json HEADER_ONLY)
penstock_package(NAME tomlplusplus DEBIAN libtomlplusplus-dev TARGET tomlplusplus::tomlplusplus HEADER_ONLY)
penstock_package(NAME Catch2 DEBIAN catch2 TARGET Catch2::Catch2)
penstock_package(NAME OpenSlide DEBIAN libopenslide-dev TARGET OpenSlide::OpenSlide PC openslide MODULE)
penstock_package(NAME MPI DEBIAN libopenmpi-dev TARGET MPI::MPI_CXX)
penstock_package(NAME Torch DEBIAN libtorch-dev TARGET torch)
penstock_package(NAME benchmark DEBIAN libbenchmark-dev TARGET benchmark::benchmark)

# penstock_require(OPTION package...): finds each package or stops, saying what to install and what to switch off.
# OPTION is the option that wants it, or "core", which can't be switched off.
function(penstock_require option)
  foreach(package IN LISTS ARGN)
    get_property(known GLOBAL PROPERTY PENSTOCK_PACKAGES)
    if(NOT package IN_LIST known)
      message(FATAL_ERROR "penstock: ${package} has no row in src/cmake/dependencies.cmake")
    endif()
    get_property(found GLOBAL PROPERTY PENSTOCK_FOUND_PACKAGES)
    if(package IN_LIST found)
      continue()
    endif()
    get_property(target GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_TARGET)
    get_property(debian GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_DEBIAN)
    if(package STREQUAL "Threads")
      set(THREADS_PREFER_PTHREAD_FLAG ON)
    endif()
    # Targets are made global: tests, and a project around ours, link static components and so need them too.
    set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
    get_property(oldest GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_OLDEST)
    find_package(${package} ${oldest} QUIET)
    if(NOT TARGET ${target})
      set(way_out "or switch it off: -D${option}=OFF")
      set(wanted "${option}=ON needs")
      if(option STREQUAL "core")
        set(way_out "it can't be switched off")
        set(wanted "penstock's core needs")
      endif()
      message(FATAL_ERROR "${wanted} ${package}, which was not found. On Debian or Ubuntu: apt-get install ${debian} "
                          "(elsewhere, add its prefix to CMAKE_PREFIX_PATH); ${way_out}.")
    endif()
    set_property(GLOBAL APPEND PROPERTY PENSTOCK_FOUND_PACKAGES ${package})
    set_property(GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_VERSION "${${package}_VERSION}")
  endforeach()
endfunction()

# penstock_package_of(TARGET RESULT): the package with this imported target, or empty.
function(penstock_package_of target result)
  set(${result} "" PARENT_SCOPE)
  get_property(packages GLOBAL PROPERTY PENSTOCK_PACKAGES)
  foreach(package IN LISTS packages)
    get_property(main GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_TARGET)
    get_property(also GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_ALSO)
    if(target STREQUAL main OR target IN_LIST also)
      set(${result} ${package} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
