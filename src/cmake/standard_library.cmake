# SPDX-License-Identifier: Apache-2.0
# What the compiler is told of the standard library changes the size of its types. Whoever uses penstock must be told the
# same: penstock_agreed_definitions is what, mostly nothing. The headers refuse programs that were not told.
string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
get_directory_property(definitions COMPILE_DEFINITIONS)
list(TRANSFORM definitions PREPEND -D)
get_directory_property(options COMPILE_OPTIONS)
list(APPEND flags ${definitions} ${options})
list(FILTER flags EXCLUDE REGEX "\\$<")
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" ${flags} -E -dM -x c++ -include cstddef /dev/null
  OUTPUT_VARIABLE macros ERROR_QUIET)
set(penstock_agreed_definitions "")
if(macros MATCHES "#define _GLIBCXX_DEBUG[ \n]")
  list(APPEND penstock_agreed_definitions _GLIBCXX_DEBUG PENSTOCK_WITH_GLIBCXX_DEBUG)
endif()
if(macros MATCHES "#define _GLIBCXX_USE_CXX11_ABI 0")
  list(APPEND penstock_agreed_definitions _GLIBCXX_USE_CXX11_ABI=0 PENSTOCK_WITH_OLD_STRINGS)
endif()
