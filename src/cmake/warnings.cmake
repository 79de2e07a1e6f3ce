# penstock_warnings(TARGET): the project's warnings, on this target alone; never on a user's.
function(penstock_warnings target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    set(flags -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # GCC 12 warns of overlapping copies inside std::string's own operator+ (its bug 105651).
      list(APPEND flags -Wno-restrict)
    endif()
    if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC would take the files for headers, where an unnamed namespace is an accident, and other files' names for their own.
      list(APPEND flags -Wno-subobject-linkage -Wno-shadow)
    endif()
    if(PENSTOCK_WERROR)
      list(APPEND flags -Werror)
    endif()
    # Only C++: nvcc would not know these.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
  endif()
endfunction()
