# SPDX-License-Identifier: Apache-2.0
# Every component but the core, one row each, after those that it depends on:
#   penstock_known_component(
#     NAME lmdb                          option PENSTOCK_LMDB, target penstock::lmdb
#     ABOUT "read and write LMDB"        what the option's help says
#     FOLDER sources/lmdb                its CMakeLists.txt calls penstock_component(); none: that of the core does
#     DEPENDS core                       components whose headers ours include; linked PUBLIC
#     USES csv)                          components that it also uses if they are built; it can do without them
#
# From the rows follow the options and what they need, the order of the folders, the summary, what the installed package
# knows and what PENSTOCK_ALL_COMPONENTS switches on. tests/components says what else a component has, and where.

# penstock_needs(option other...): an option that can't do without others.
function(penstock_needs option)
  foreach(other IN LISTS ARGN)
    if(${option} AND NOT ${other})
      message(FATAL_ERROR "${option}=ON needs ${other}=ON: add -D${other}=ON, or switch it off: -D${option}=OFF.")
    endif()
  endforeach()
endfunction()

# CUDA is asked for by its own option alone: its toolkit is none of the system's packages.
option(PENSTOCK_ALL_COMPONENTS "What the options of components are in a new build folder, all but PENSTOCK_CUDA's" OFF)

# Properties are global, so a row can be read from any folder.
function(penstock_known_component)
  cmake_parse_arguments(PARSE_ARGV 0 C "" "NAME;ABOUT;FOLDER" "DEPENDS;USES")
  if(C_UNPARSED_ARGUMENTS OR NOT C_NAME OR NOT C_ABOUT OR NOT C_DEPENDS)
    message(FATAL_ERROR "penstock_known_component(${C_NAME}): needs NAME, ABOUT and DEPENDS; not understood: "
                        "'${C_UNPARSED_ARGUMENTS}'")
  endif()
  get_property(known GLOBAL PROPERTY PENSTOCK_KNOWN_COMPONENTS)
  foreach(other IN LISTS C_DEPENDS C_USES)
    if(NOT other STREQUAL "core" AND NOT other IN_LIST known)
      message(FATAL_ERROR "src/cmake/components.cmake: ${C_NAME} depends on ${other}, which has no row above its own")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_KNOWN_COMPONENTS ${C_NAME})
  set_property(GLOBAL PROPERTY PENSTOCK_${C_NAME}_FOLDER "${C_FOLDER}")
  set(depends ${C_DEPENDS})
  foreach(other IN LISTS C_USES)
    string(TOUPPER ${other} upper)
    if(PENSTOCK_${upper})
      list(APPEND depends ${other})
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY PENSTOCK_${C_NAME}_DEPENDS "${depends}")

  # Those that others of them need are not told of: whoever switches the others on hears of these.
  set(needs ${C_DEPENDS})
  list(REMOVE_ITEM needs core)
  set(told ${needs})
  foreach(other IN LISTS needs)
    get_property(below GLOBAL PROPERTY PENSTOCK_${other}_NEEDS)
    list(REMOVE_ITEM told ${below})
  endforeach()
  list(TRANSFORM needs TOUPPER)
  list(TRANSFORM needs PREPEND PENSTOCK_)
  list(SORT told)
  list(TRANSFORM told TOUPPER OUTPUT_VARIABLE told_options)
  list(TRANSFORM told_options PREPEND PENSTOCK_)
  list(JOIN told_options ", " text)
  string(REGEX REPLACE ", ([^,]*)$" " and \\1" text "${text}")
  if(text)
    set(text " (needs ${text})")
  endif()

  string(TOUPPER ${C_NAME} upper)
  set(default ${PENSTOCK_ALL_COMPONENTS})
  if(C_NAME STREQUAL "cuda")
    set(default OFF)
  endif()
  option(PENSTOCK_${upper} "Component ${C_NAME}: ${C_ABOUT}${text}" ${default})
  penstock_needs(PENSTOCK_${upper} ${needs})

  set(all ${C_DEPENDS})
  foreach(other IN LISTS C_DEPENDS)
    get_property(below GLOBAL PROPERTY PENSTOCK_${other}_NEEDS)
    list(APPEND all ${below})
  endforeach()
  list(REMOVE_DUPLICATES all)
  list(REMOVE_ITEM all core)
  set_property(GLOBAL PROPERTY PENSTOCK_${C_NAME}_NEEDS "${all}")
  set_property(GLOBAL PROPERTY PENSTOCK_${C_NAME}_TOLD_NEEDS "${told}")
endfunction()

# penstock_options_of(result [PARTS]): the options of all components but cuda, by name; PARTS: of stores and transforms alone.
function(penstock_options_of result)
  get_property(known GLOBAL PROPERTY PENSTOCK_KNOWN_COMPONENTS)
  set(options "")
  foreach(name IN LISTS known)
    get_property(folder GLOBAL PROPERTY PENSTOCK_${name}_FOLDER)
    if(folder AND (NOT ARGN STREQUAL "PARTS" OR folder MATCHES "^(sources|transforms)/"))
      string(TOUPPER ${name} upper)
      list(APPEND options PENSTOCK_${upper})
    endif()
  endforeach()
  list(SORT options)
  set(${result} ${options} PARENT_SCOPE)
endfunction()

penstock_known_component(NAME cuda ABOUT "GPUs as devices of loaders (needs the CUDA toolkit, 12.8 or newer)" DEPENDS core)
penstock_known_component(NAME image FOLDER transforms/image DEPENDS core ABOUT "crop, resize, flip, normalise")
penstock_known_component(NAME jpeg FOLDER transforms/codec/jpeg DEPENDS image ABOUT "decode and encode JPEG")
penstock_known_component(NAME png FOLDER transforms/codec/png DEPENDS image ABOUT "decode and encode PNG")
penstock_known_component(NAME numeric FOLDER transforms/numeric DEPENDS core ABOUT "dtypes, numbers of classes")
penstock_known_component(NAME webp FOLDER transforms/codec/webp DEPENDS image ABOUT "decode WebP")
penstock_known_component(NAME tiff FOLDER transforms/codec/tiff DEPENDS image ABOUT "decode TIFF")
penstock_known_component(NAME codecs FOLDER transforms/codec/any DEPENDS image jpeg png USES webp tiff
  ABOUT "decode JPEG, PNG, WebP or TIFF by what a sample begins with")
penstock_known_component(NAME csv FOLDER sources/csv DEPENDS core ABOUT "columns of text tables")
penstock_known_component(NAME detection FOLDER sources/detection DEPENDS core
  ABOUT "boxes, masks and keypoints of COCO, Pascal VOC and YOLO")
penstock_known_component(NAME files FOLDER sources/files DEPENDS core ABOUT "read and write folders of files")
penstock_known_component(NAME hdf5 FOLDER sources/hdf5 DEPENDS core ABOUT "read and write HDF5")
penstock_known_component(NAME json FOLDER sources/json DEPENDS core ABOUT "lines of JSON")
penstock_known_component(NAME lmdb FOLDER sources/lmdb DEPENDS core ABOUT "read and write LMDB")
penstock_known_component(NAME remote FOLDER sources/remote DEPENDS core ABOUT "files on servers, by HTTP")
penstock_known_component(NAME slide FOLDER sources/slide DEPENDS core image jpeg png ABOUT "train from whole-slide images")
penstock_known_component(NAME coords FOLDER sources/coords DEPENDS core hdf5 slide
  ABOUT "lists of places and features of CLAM and TRIDENT")
penstock_known_component(NAME webdataset FOLDER sources/webdataset DEPENDS core USES remote ABOUT "read and write tar shards")
penstock_known_component(NAME testing FOLDER src/testing DEPENDS core
  ABOUT "conformance suites for sources, stages and sinks of one's own")
