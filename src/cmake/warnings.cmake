# SPDX-License-Identifier: Apache-2.0
# penstock_warnings(TARGET): the project's warnings, on this target alone; never on a user's.
function(penstock_warnings target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    set(flags -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # GCC 12 warns of overlapping copies inside std::string's own operator+ (its bug 105651).
      list(APPEND flags -Wno-restrict)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # The stable_sort of GCC 12's library calls what that library calls deprecated; GCC keeps such warnings to itself.
      list(APPEND flags -Wno-deprecated-declarations)
    endif()
    if(CMAKE_UNITY_BUILD)
      # Compilers would take other files' names for a file's own; GCC files for headers, where an unnamed namespace is an accident.
      list(APPEND flags -Wno-shadow)
      if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND flags -Wno-subobject-linkage)
      endif()
    endif()
    if(PENSTOCK_WERROR)
      list(APPEND flags -Werror)
    endif()
    # Only C++: nvcc would not know these, and what it makes of kernels has casts of C.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
    set(cuda_flags -Xcompiler=-Wall,-Wextra)
    if(PENSTOCK_WERROR)
      list(APPEND cuda_flags --Werror=all-warnings -Xcompiler=-Werror)
    endif()
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_flags}>")
  endif()
endfunction()

# penstock_exact_arithmetic(TARGET): a * b + c rounds twice on every CPU and GPU, or results would depend on whether it has
# fused multiply-add.
function(penstock_exact_arithmetic target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
                                             "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-ffp-contract=off>")
  endif()
endfunction()
