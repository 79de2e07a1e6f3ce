# SPDX-License-Identifier: Apache-2.0
# penstock_component(                           a component with its row in components.cmake, or the core
#   NAME lmdb                                   target penstock_lmdb, alias penstock::lmdb, library libpenstock_lmdb
#   SOURCES lmdb_source.cpp lmdb_sink.cpp       every source file, relative to the calling folder; no globs. None: headers alone
#   HEADERS penstock/sources/lmdb.hpp           every public header, relative to include/; installed with this component only
#   PRIVATE_LIBS LMDB::LMDB                     third-party targets, linked PRIVATE (of headers alone: to their users)
#   PACKAGES LMDB)                              packages after them, as named in dependencies.cmake
#
# PRIVATE_LIBS and PACKAGES say the same twice, so either is enough: a known target brings its package, a package its main
# target. Packages are found here; a missing one stops the configure with the name of the Debian package and the option.
# Header-only packages (Random123, XXHash) give their include folder and nothing else: no user ever needs them.
#
# The component also gets: C++20, hidden visibility (export what is public with PENSTOCK_API), PENSTOCK_BUILDING_<NAME>,
# the project's warnings, no fused multiply-add, position-independent code, header self-containment (part of the target
# all_verify_interface_header_sets), and when PENSTOCK_INSTALL is on an export file, a dependency file for the package
# configuration and a .pc file. Add what is special with the usual target_* commands after the call.
#
# The target penstock_components builds all of them; penstock::penstock is all of them, to be linked.
#
# penstock_private_libs(TARGET OPTION lib...) links the same way for something that is not a component (tool, test, bench).
include(GNUInstallDirs)

# penstock_unsanitized(TARGET): what nothing runs in a build that tests a part of the library. The compiler has its say alone.
function(penstock_unsanitized target)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-O0;-g0;-fno-sanitize=all>")
endfunction()

# Links LIBS (targets of known packages are looked for first). Header-only packages are reduced to their include folders:
# linked, they would stand in the export file of a static library, and a user would have to have them.
function(penstock_private_libs target option)
  foreach(lib IN LISTS ARGN)
    penstock_package_of("${lib}" package)
    set(header_only FALSE)
    if(package)
      penstock_require(${option} ${package})
      get_property(header_only GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_HEADER_ONLY)
    endif()
    if(header_only)
      target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:${lib},INTERFACE_INCLUDE_DIRECTORIES>)
    else()
      target_link_libraries(${target} PRIVATE ${lib})
    endif()
  endforeach()
endfunction()

function(penstock_component)
  cmake_parse_arguments(PARSE_ARGV 0 C "" "NAME" "SOURCES;HEADERS;PRIVATE_LIBS;PACKAGES")
  if(C_UNPARSED_ARGUMENTS OR NOT C_NAME OR NOT C_HEADERS)
    message(FATAL_ERROR "penstock_component(${C_NAME}): needs NAME and HEADERS; not understood: "
                        "'${C_UNPARSED_ARGUMENTS}'")
  endif()
  set(target penstock_${C_NAME})
  string(TOUPPER ${C_NAME} upper)
  set(option PENSTOCK_${upper})
  set(C_DEPENDS "")
  get_property(known GLOBAL PROPERTY PENSTOCK_KNOWN_COMPONENTS)
  if(C_NAME STREQUAL "core")
    set(option core)
  elseif(C_NAME IN_LIST known)
    get_property(C_DEPENDS GLOBAL PROPERTY PENSTOCK_${C_NAME}_DEPENDS)
  else()
    message(FATAL_ERROR "penstock_component(${C_NAME}): it has no row in src/cmake/components.cmake")
  endif()

  # Packages after the targets, targets of the packages.
  foreach(lib IN LISTS C_PRIVATE_LIBS)
    penstock_package_of("${lib}" package)
    list(APPEND C_PACKAGES ${package})
  endforeach()
  list(REMOVE_DUPLICATES C_PACKAGES)
  penstock_require(${option} ${C_PACKAGES})
  foreach(package IN LISTS C_PACKAGES)
    get_property(main GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_TARGET)
    get_property(also GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_ALSO)
    set(listed FALSE)
    foreach(lib IN LISTS main also)
      if(lib IN_LIST C_PRIVATE_LIBS)
        set(listed TRUE)
      endif()
    endforeach()
    if(NOT listed)
      list(APPEND C_PRIVATE_LIBS ${main})
    endif()
  endforeach()

  list(TRANSFORM C_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/include/" OUTPUT_VARIABLE headers)
  set(public PUBLIC)
  set(type "")
  if(NOT C_SOURCES)
    set(public INTERFACE)
    set(type INTERFACE)
  endif()
  add_library(${target} ${type} ${C_SOURCES})
  add_library(penstock::${C_NAME} ALIAS ${target})
  if(NOT TARGET penstock_components)
    add_custom_target(penstock_components)
    add_library(penstock_all INTERFACE)
    add_library(penstock::penstock ALIAS penstock_all)
  endif()
  add_dependencies(penstock_components ${target})
  target_link_libraries(penstock_all INTERFACE ${target})
  target_sources(${target} ${public} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  target_compile_features(${target} ${public} cxx_std_20)
  # What several stores share is compiled into each of them. As objects of its own: a program that links two static
  # components takes these from one.
  set(shared ${C_SOURCES})
  list(FILTER shared INCLUDE REGEX "^\\.\\./common/")
  if(shared)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/sources")
    set_source_files_properties(${shared} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(C_SOURCES)
    target_compile_definitions(${target} PRIVATE PENSTOCK_BUILDING_${upper})
    penstock_warnings(${target})
    penstock_exact_arithmetic(${target})
    if(C_NAME IN_LIST PENSTOCK_SANITIZED)
      foreach(other IN LISTS C_DEPENDS)
        if(NOT other IN_LIST PENSTOCK_SANITIZED)
          message(FATAL_ERROR "PENSTOCK_SANITIZED has ${C_NAME} without ${other}, which ${C_NAME} needs: add it")
        endif()
      endforeach()
    elseif(PENSTOCK_SANITIZED)
      penstock_unsanitized(${target})
    endif()
  endif()
  # A plugin that is closed takes a shared library along while oneTBB's threads, which end later, run its code.
  get_target_property(library_type ${target} TYPE)
  if(library_type STREQUAL "SHARED_LIBRARY")
    target_link_options(${target} PRIVATE "LINKER:-z,nodelete")
  endif()
  # While the version is 0.x a minor release may break the ABI, so it is part of the soname.
  set(soversion ${PROJECT_VERSION_MAJOR})
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${target} EXPORT_NAME ${C_NAME} VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    INSTALL_RPATH "$ORIGIN" VERIFY_INTERFACE_HEADER_SETS ON)
  foreach(other IN LISTS C_DEPENDS)
    if(NOT TARGET penstock_${other})
      string(TOUPPER ${other} other_upper)
      message(FATAL_ERROR "${option}=ON needs penstock's component '${other}'. Switch it on: -DPENSTOCK_${other_upper}=ON.")
    endif()
    target_link_libraries(${target} ${public} penstock_${other})
  endforeach()
  if(C_SOURCES)
    penstock_private_libs(${target} ${option} ${C_PRIVATE_LIBS})
  else()
    target_link_libraries(${target} INTERFACE ${C_PRIVATE_LIBS})
  endif()

  # For the configuration file, the summary and the layering test.
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_COMPONENTS ${C_NAME})
  set_property(GLOBAL PROPERTY PENSTOCK_${C_NAME}_PACKAGES "${C_PACKAGES}")
  string(APPEND facts "component ${C_NAME}\n")
  foreach(kind IN ITEMS DEPENDS PRIVATE_LIBS HEADERS)
    foreach(value IN LISTS C_${kind})
      string(APPEND facts "${kind} ${C_NAME} ${value}\n")
    endforeach()
  endforeach()
  foreach(file IN LISTS C_SOURCES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(APPEND facts "SOURCES ${C_NAME} ${file}\n")
  endforeach()
  set_property(GLOBAL APPEND_STRING PROPERTY PENSTOCK_LAYERING_FACTS "${facts}")

  if(PENSTOCK_INSTALL)
    penstock_install_component(${C_NAME} "${C_DEPENDS}" "${C_PACKAGES}")
  endif()
endfunction()

# The export file, the dependency file and the .pc file of one component.
function(penstock_install_component name depends packages)
  set(target penstock_${name})
  set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/penstock")
  install(TARGETS ${target} EXPORT ${target}
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT ${target} FILE penstock-${name}-targets.cmake NAMESPACE penstock:: DESTINATION "${config_dir}")

  # A static library leaves its dependencies to whoever links it, headers alone leave theirs to whoever includes them. A
  # shared library has them inside: its users need none. There is no other library beside a static one, so its .pc file says
  # all that a link needs without being asked for a static link.
  get_target_property(type ${target} TYPE)
  set(dependencies "set(_penstock_${name}_depends ${depends})\n")
  list(TRANSFORM depends REPLACE "^(.+)$" "penstock-\\1 = ${PROJECT_VERSION}" OUTPUT_VARIABLE requires)
  set(cflags "")
  if(name STREQUAL "core")
    list(TRANSFORM penstock_agreed_definitions PREPEND -D OUTPUT_VARIABLE cflags)
  endif()
  set(libs "-L\${libdir} -lpenstock_${name}")
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(libs "")
  endif()
  if(NOT type STREQUAL "SHARED_LIBRARY")
    foreach(package IN LISTS packages)
      get_property(header_only GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_HEADER_ONLY)
      if(header_only)
        continue()
      endif()
      if(package STREQUAL "Threads")
        string(APPEND dependencies "set(THREADS_PREFER_PTHREAD_FLAG ON)\n")
      endif()
      get_property(oldest GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_OLDEST)
      string(STRIP "${package} ${oldest}" found)
      string(APPEND dependencies "find_dependency(${found})\n")
      get_property(module GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_MODULE)
      if(module)
        install(FILES "${PROJECT_SOURCE_DIR}/src/cmake/Find${package}.cmake" DESTINATION "${config_dir}/modules")
      endif()
      get_property(pc GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_PC)
      get_property(package_libs GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_LIBS)
      list(APPEND requires ${pc})
      list(APPEND libs ${package_libs})
      if(type STREQUAL "INTERFACE_LIBRARY")
        get_property(package_cflags GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_CFLAGS)
        list(APPEND cflags ${package_cflags})
      endif()
      if(NOT pc AND NOT package_libs)
        message(FATAL_ERROR "penstock_component(${name}): give ${package} a PC or LIBS in src/cmake/dependencies.cmake")
      endif()
    endforeach()
  endif()
  file(WRITE "${PROJECT_BINARY_DIR}/package/penstock-${name}-dependencies.cmake" "${dependencies}")

  penstock_pkg_config(penstock-${name} "asynchronous data loading for training (${name})" "${requires}" "${libs}" "${cflags}")

  install(FILES "${PROJECT_BINARY_DIR}/package/penstock-${name}-dependencies.cmake" DESTINATION "${config_dir}")
endfunction()

# penstock_pkg_config(module what requires libs cflags): MODULE.pc. Folders are relative to it where they can be, so that the
# tree may be moved.
function(penstock_pkg_config module what requires libs cflags)
  set(PC_NAME "${module}")
  set(PC_WHAT "${what}")
  list(JOIN requires ", " PC_REQUIRES)
  list(JOIN libs " " PC_LIBS)
  list(JOIN cflags " " PC_CFLAGS)
  set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  set(PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
  else()
    file(RELATIVE_PATH up "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(PC_PREFIX "\${pcfiledir}/${up}")
  endif()
  if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/src/cmake/penstock.pc.in" "${PROJECT_BINARY_DIR}/package/${module}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/package/${module}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

# What people read of the whole, beside docs/ and examples/; links between these files are relative.
set(PENSTOCK_DOCS README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE NOTICE)

# penstock_list_third_party(): BUILD/package/third-party, a line for each package that this build found:
#   name|target|Debian package|module of pkg-config|other words of the link|file of the library, if it has one
# Packages of the whole (src/cmake/packaging) read it.
function(penstock_list_third_party)
  if(CMAKE_CONFIGURATION_TYPES)
    return() # each configuration may have another file
  endif()
  get_property(found GLOBAL PROPERTY PENSTOCK_FOUND_PACKAGES)
  list(REMOVE_ITEM found Threads) # the C library's
  set(lines "")
  foreach(package IN LISTS found)
    set(line "${package}")
    foreach(key IN ITEMS TARGET DEBIAN PC LIBS)
      get_property(value GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_${key})
      string(APPEND line "|${value}")
    endforeach()
    get_property(target GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_TARGET)
    get_target_property(type ${target} TYPE)
    # Some are only a name for another target.
    while(type STREQUAL "INTERFACE_LIBRARY")
      get_target_property(other ${target} INTERFACE_LINK_LIBRARIES)
      if(NOT TARGET "${other}")
        break()
      endif()
      set(target ${other})
      get_target_property(type ${target} TYPE)
    endwhile()
    set(file "")
    get_property(header_only GLOBAL PROPERTY PENSTOCK_PACKAGE_${package}_HEADER_ONLY)
    if(NOT header_only AND NOT type STREQUAL "INTERFACE_LIBRARY")
      set(file "$<TARGET_FILE:${target}>")
    endif()
    string(APPEND lines "${line}|${file}\n")
  endforeach()
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/package/third-party" CONTENT "${lines}")
endfunction()

# penstock_install_package(): the configuration and version files, once all components are known.
function(penstock_install_package)
  include(CMakePackageConfigHelpers)
  set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/penstock")
  get_property(PENSTOCK_BUILT GLOBAL PROPERTY PENSTOCK_COMPONENTS)
  get_property(PENSTOCK_KNOWN GLOBAL PROPERTY PENSTOCK_KNOWN_COMPONENTS)
  list(SORT PENSTOCK_KNOWN)
  list(JOIN PENSTOCK_KNOWN " " PENSTOCK_KNOWN)
  configure_package_config_file("${PROJECT_SOURCE_DIR}/src/cmake/penstock-config.cmake.in"
    "${PROJECT_BINARY_DIR}/package/penstock-config.cmake" INSTALL_DESTINATION "${config_dir}")
  # 0.x: any minor release may break its users.
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/penstock-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/package/penstock-config.cmake"
                "${PROJECT_BINARY_DIR}/package/penstock-config-version.cmake" DESTINATION "${config_dir}")
  penstock_list_third_party()
  # pkg-config's module `penstock`: all components.
  list(TRANSFORM PENSTOCK_BUILT REPLACE "^(.+)$" "penstock-\\1 = ${PROJECT_VERSION}" OUTPUT_VARIABLE all)
  penstock_pkg_config(penstock "asynchronous data loading for training, all components" "${all}" "" "")
  list(TRANSFORM PENSTOCK_DOCS PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE docs)
  install(FILES ${docs} DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}" USE_SOURCE_PERMISSIONS
    PATTERN docs/reference EXCLUDE)
endfunction()
