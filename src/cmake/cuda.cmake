# SPDX-License-Identifier: Apache-2.0
# PENSTOCK_CUDA=ON: the toolkit, and CUDA as a language. Included by the root; nothing here without the option.
# nvcc: CMAKE_CUDA_COMPILER, $CUDACXX, on PATH, or in /usr/local/cuda/bin. CMAKE_CUDA_ARCHITECTURES: the user's, else every
# one since Turing, and PTX of the last for what is newer.
if(NOT PENSTOCK_CUDA)
  return()
endif()

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(PENSTOCK_NVCC nvcc PATHS /usr/local/cuda/bin)
  mark_as_advanced(PENSTOCK_NVCC)
  if(NOT PENSTOCK_NVCC)
    message(FATAL_ERROR "PENSTOCK_CUDA=ON needs NVIDIA's CUDA toolkit, 12.8 or newer, whose nvcc was found neither on PATH nor "
                        "in /usr/local/cuda/bin. Say where it is: -DCMAKE_CUDA_COMPILER=/path/to/nvcc; or switch it off: "
                        "-DPENSTOCK_CUDA=OFF.")
  endif()
  set(CMAKE_CUDA_COMPILER "${PENSTOCK_NVCC}" CACHE FILEPATH "nvcc")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 100-real 120 CACHE STRING "GPUs that kernels are compiled for")
endif()
if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX})
  set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}" CACHE FILEPATH "What nvcc compiles the host's part with")
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
  message(FATAL_ERROR "PENSTOCK_CUDA=ON needs NVIDIA's CUDA toolkit, 12.8 or newer; ${CMAKE_CUDA_COMPILER} is of "
                      "${CMAKE_CUDA_COMPILER_VERSION}. Say where another is: -DCMAKE_CUDA_COMPILER=/path/to/nvcc; or switch it "
                      "off: -DPENSTOCK_CUDA=OFF.")
endif()
penstock_require(PENSTOCK_CUDA CUDAToolkit)
# Where a program without CMake finds the runtime and its headers.
get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
cmake_path(GET cudart PARENT_PATH cudart)
set_property(GLOBAL PROPERTY PENSTOCK_PACKAGE_CUDAToolkit_LIBS "-L${cudart}" -lcudart_static -ldl -lrt)
get_target_property(cuda_headers CUDA::toolkit INTERFACE_INCLUDE_DIRECTORIES)
list(GET cuda_headers 0 cuda_headers)
set_property(GLOBAL PROPERTY PENSTOCK_PACKAGE_CUDAToolkit_CFLAGS "-I${cuda_headers}")

# CMake learnt in 3.26 how nvcc is told of C++20.
foreach(kind IN ITEMS STANDARD EXTENSION)
  if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
    set(CMAKE_CUDA20_${kind}_COMPILE_OPTION -std=c++20)
  endif()
endforeach()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
