# SPDX-License-Identifier: Apache-2.0
# penstock_test(
#   NAME test_order                   target, and prefix of its tests: test_order.<name of the TEST_CASE>
#   SOURCES test_order.cpp
#   LIBS penstock::core               what it tests, helpers, and third-party targets
#   [PATHS tool=$<TARGET_FILE:penstock>]  what penstock_test::path_of("tool") gives it; targets are built first
#   [LABELS slow] [TIMEOUT 120]       for each of its tests; seconds
#   [QUICKLY]                         compiled without optimisation: for tests that compute little themselves
#   [ALONE all|tagged])               nothing runs beside them, or those tagged [alone], which compare times
#
# #include "support/catch.hpp", for Catch2 2 and 3 alike. Every TEST_CASE becomes one ctest.
# main() and PENSTOCK_SKIP come from tests/support.
penstock_require(PENSTOCK_TESTS Catch2)
get_property(Catch2_VERSION GLOBAL PROPERTY PENSTOCK_PACKAGE_Catch2_VERSION)
list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}")
include(Catch)
file(STRINGS "${PROJECT_SOURCE_DIR}/tests/slow_tests" PENSTOCK_SLOW_TESTS REGEX "^[0-9]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/slow_tests")

# penstock_test_compile(TARGET [QUICKLY]): how tests and their helpers are compiled.
function(penstock_test_compile target)
  if(NOT CMAKE_CXX_CLANG_TIDY) # which looks at files one by one
    set(CMAKE_UNITY_BUILD ON)
  endif()
  penstock_warnings(${target})
  penstock_exact_arithmetic(${target}) # references must round as the library does
  if("QUICKLY" IN_LIST ARGN AND NOT PENSTOCK_SANITIZE)
    target_compile_options(${target} PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:-O0>")
  endif()
  # Checks hold their file's name: objects are to be the same in every folder.
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>")
  # Eight files as one take half the time. Files whose names would meet stand in `namespace PENSTOCK_TEST_FILE`.
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD "${CMAKE_UNITY_BUILD}"
    UNITY_BUILD_UNIQUE_ID PENSTOCK_TEST_FILE UNITY_BUILD_BATCH_SIZE 8)
  target_compile_definitions(${target} PRIVATE PENSTOCK_TEST_FILE=penstock_test_file)
endfunction()

# penstock_test_paths(TARGET NAME=PATH...): see PATHS. Once for a target.
function(penstock_test_paths target)
  list(JOIN ARGN "\n" lines)
  file(GENERATE OUTPUT "$<TARGET_FILE:${target}>.paths" CONTENT "${lines}\n")
  string(REGEX MATCHALL "<TARGET_FILE:[^>]+>" files "${ARGN}")
  list(TRANSFORM files REPLACE "<TARGET_FILE:(.+)>" "\\1")
  if(files)
    add_dependencies(${target} ${files})
  endif()
endfunction()

# penstock_python_test(NAME LABEL SCRIPT argument...): a test of the tree itself. Counted as skipped where there is no Python,
# or where the script ends with 4.
find_program(PENSTOCK_SCRIPTS_PYTHON python3 HINTS /usr/bin)
mark_as_advanced(PENSTOCK_SCRIPTS_PYTHON)
function(penstock_python_test name label)
  if(PENSTOCK_SCRIPTS_PYTHON)
    add_test(NAME ${name} COMMAND "${PENSTOCK_SCRIPTS_PYTHON}" ${ARGN})
  else()
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E false)
    set_tests_properties(${name} PROPERTIES DISABLED TRUE)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 120 SKIP_RETURN_CODE 4)
endfunction()

# penstock_test_helper(NAME images SOURCES test_images.cpp [LIBS ...]): what several test programs share, compiled once.
# They link penstock_test_<NAME>.
function(penstock_test_helper)
  cmake_parse_arguments(PARSE_ARGV 0 T "" "NAME" "SOURCES;LIBS")
  set(target penstock_test_${T_NAME})
  add_library(${target} STATIC ${T_SOURCES})
  target_link_libraries(${target} PUBLIC penstock_test_support)
  foreach(lib IN LISTS T_LIBS)
    penstock_package_of("${lib}" package)
    if(package)
      penstock_require(PENSTOCK_TESTS ${package})
    endif()
  endforeach()
  target_link_libraries(${target} PUBLIC ${T_LIBS})
  penstock_test_compile(${target})
  if(NOT PENSTOCK_SANITIZE) # they draw thousands of pictures
    target_compile_options(${target} PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:-O1>")
  endif()
endfunction()

function(penstock_test)
  cmake_parse_arguments(PARSE_ARGV 0 T "QUICKLY" "ALONE;NAME;TIMEOUT" "SOURCES;LIBS;LABELS;PATHS")
  if(T_UNPARSED_ARGUMENTS OR NOT T_NAME OR NOT T_SOURCES)
    message(FATAL_ERROR "penstock_test(${T_NAME}): needs NAME and SOURCES; not understood: '${T_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(${T_NAME} ${T_SOURCES})
  set_property(TARGET ${T_NAME} PROPERTY PENSTOCK_TEST_PROGRAM TRUE) # for tests/near
  target_link_libraries(${T_NAME} PRIVATE penstock_test_support)
  penstock_private_libs(${T_NAME} PENSTOCK_TESTS ${T_LIBS})
  set(quickly "")
  if(T_QUICKLY)
    set(quickly QUICKLY)
  endif()
  penstock_test_compile(${T_NAME} ${quickly})
  if(T_PATHS)
    penstock_test_paths(${T_NAME} ${T_PATHS})
  endif()

  # 4: the test asked to be skipped (see support/main.cpp).
  set(properties TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 4)
  if(NOT T_ALONE)
    foreach(source IN LISTS T_SOURCES)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
      file(STRINGS "${source}" alone REGEX "\\[alone\\]" LIMIT_COUNT 1)
      if(alone)
        message(FATAL_ERROR "penstock_test(${T_NAME}): ${source} has cases tagged [alone], so it wants ALONE tagged")
      endif()
    endforeach()
  endif()
  # Catch2 2 passes when a filter matches no test, which a name with odd characters may cause; 3 fails by itself.
  set(arguments "")
  if(Catch2_VERSION VERSION_LESS 3)
    set(arguments EXTRA_ARGS --warn NoTests)
  endif()
  set(others "")
  if(T_ALONE STREQUAL "all")
    list(APPEND properties RUN_SERIAL TRUE)
  elseif(T_ALONE STREQUAL "tagged")
    set(others TEST_SPEC ~[alone])
    catch_discover_tests(${T_NAME} TEST_SPEC [alone] TEST_LIST ${T_NAME}_ALONE TEST_PREFIX "${T_NAME}." ${arguments}
      PROPERTIES ${properties} RUN_SERIAL TRUE)
  endif()
  catch_discover_tests(${T_NAME} ${others} TEST_PREFIX "${T_NAME}." ${arguments} PROPERTIES ${properties})

  # A script sets labels and costs: as properties of catch_discover_tests(), Catch2 2 keeps the first label alone.
  set(script "set(tests \${${T_NAME}_TESTS} \${${T_NAME}_ALONE})\n")
  if(T_LABELS)
    string(APPEND script "set_tests_properties(\${tests} PROPERTIES LABELS \"${T_LABELS}\")\n")
  endif()
  foreach(line IN LISTS PENSTOCK_SLOW_TESTS)
    if(line MATCHES "^([0-9]+) \\| (${T_NAME}\\..*) \\| ")
      string(APPEND script "list(FIND tests [==[${CMAKE_MATCH_2}]==] at)\n"
                           "if(NOT at EQUAL -1)\n"
                           "  set_tests_properties([==[${CMAKE_MATCH_2}]==] PROPERTIES COST ${CMAKE_MATCH_1})\n"
                           "endif()\n")
    endif()
  endforeach()
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${T_NAME}_properties.cmake")
  file(WRITE "${file}" "${script}")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()
