# penstock_test(
#   NAME test_order                   target, and prefix of its tests: test_order.<name of the TEST_CASE>
#   SOURCES test_order.cpp
#   LIBS penstock::core               what it tests, and third-party targets
#   [LABELS slow] [TIMEOUT 120]       for each of its tests; seconds
#   [SERIAL])                         nothing else runs beside them: for tests of time or memory
#
# #include "support/catch.hpp", for Catch2 2 and 3 alike. Every TEST_CASE becomes one ctest.
# main() and PENSTOCK_SKIP come from tests/support.
penstock_require(PENSTOCK_TESTS Catch2)
get_property(Catch2_VERSION GLOBAL PROPERTY PENSTOCK_PACKAGE_Catch2_VERSION)
list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}")
include(Catch)

# penstock_test_optimisation(TARGET): where the library is optimised, its tests are a little: they take longer to compile
# than to run.
function(penstock_test_optimisation target)
  target_compile_options(${target} PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:-O1>")
endfunction()

function(penstock_test)
  cmake_parse_arguments(PARSE_ARGV 0 T "SERIAL" "NAME;TIMEOUT" "SOURCES;LIBS;LABELS")
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
  penstock_warnings(${T_NAME})
  penstock_test_optimisation(${T_NAME})
  penstock_exact_arithmetic(${T_NAME}) # references must round as the library does
  # Tests call their helpers by short names, each file its own: they are compiled one by one. What they all include is not.
  set_target_properties(${T_NAME} PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD OFF)
  target_precompile_headers(${T_NAME} REUSE_FROM penstock_test_support)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Its bug 105651 (see warnings.cmake) has these names too where <string> is precompiled.
    target_compile_options(${T_NAME} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow>")
  endif()

  # 4: the test asked to be skipped (see support/main.cpp).
  set(properties TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 4)
  if(T_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  # Catch2 2 passes when a filter matches no test, which a name with odd characters may cause; 3 fails by itself.
  set(arguments "")
  if(Catch2_VERSION VERSION_LESS 3)
    set(arguments EXTRA_ARGS --warn NoTests)
  endif()
  catch_discover_tests(${T_NAME} TEST_PREFIX "${T_NAME}." ${arguments} PROPERTIES ${properties})
  if(T_LABELS)
    # Not a property above: Catch2 2 loses all but the first of a list.
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${T_NAME}_labels.cmake")
    file(WRITE "${file}" "foreach(test IN LISTS ${T_NAME}_TESTS)\n"
                         "  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${T_LABELS}\")\n"
                         "endforeach()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
  endif()
endfunction()
