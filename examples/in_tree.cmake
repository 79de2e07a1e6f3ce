# SPDX-License-Identifier: Apache-2.0
# The examples as a part of penstock's own build: with its library, warnings and tests.
include(CMakePackageConfigHelpers)
file(WRITE "${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/penstock-config.cmake" "# Its targets are there.\n")
write_basic_package_version_file("${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/penstock-config-version.cmake"
  VERSION "${penstock_VERSION}" COMPATIBILITY SameMinorVersion)
set(CMAKE_CXX_EXTENSIONS OFF)
unset(CMAKE_CUDA_STANDARD) # each says its own
# What is missing is told with the name of the Debian package.
if(PENSTOCK_SLIDE)
  penstock_require(PENSTOCK_EXAMPLES CLI11 fmt)
endif()
if(PENSTOCK_MPI_EXAMPLE)
  set(MPI_CXX_SKIP_MPICXX ON)
  penstock_require(PENSTOCK_MPI_EXAMPLE MPI)
endif()
if(PENSTOCK_LIBTORCH_EXAMPLE)
  penstock_require(PENSTOCK_LIBTORCH_EXAMPLE Torch)
endif()
if(PENSTOCK_TESTS)
  enable_testing()
endif()

# penstock_example_test(NAME TIMEOUT [LABEL label] COMMAND argument... [PROPERTIES property value...])
function(penstock_example_test name timeout)
  cmake_parse_arguments(PARSE_ARGV 2 T "" "LABEL" "COMMAND;PROPERTIES")
  if(NOT T_LABEL)
    set(T_LABEL example)
  endif()
  add_test(NAME example.${name} COMMAND ${T_COMMAND})
  set_tests_properties(example.${name} PROPERTIES LABELS ${T_LABEL} TIMEOUT ${timeout} ${T_PROPERTIES})
endfunction()

function(penstock_examples_in_tree)
  get_property(folders DIRECTORY PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS folders)
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      penstock_warnings(${target})
    endforeach()
  endforeach()
  if(TARGET train_lmdb_gpu)
    add_dependencies(train_lmdb_gpu make_photos)
  endif()
  if(TARGET train_slides AND TARGET penstock AND TARGET make_slides)
    add_dependencies(train_slides make_slides penstock)
    add_dependencies(train_regions make_slides penstock)
  endif()
  if(NOT PENSTOCK_TESTS)
    return()
  endif()
  set(here "${CMAKE_CURRENT_SOURCE_DIR}")
  set(out "${CMAKE_CURRENT_BINARY_DIR}")
  foreach(name IN ITEMS custom_source first_pipeline own_kernel shared_limit)
    penstock_example_test(${name} 120 COMMAND ${name})
  endforeach()
  penstock_example_test(own_kernel.emulated 120 COMMAND own_kernel --emulated)
  penstock_example_test(own_kernel.gpu 120 LABEL gpu COMMAND own_kernel --gpu PROPERTIES SKIP_RETURN_CODE 77)
  penstock_example_test(two_devices 120 COMMAND two_devices --emulated)
  penstock_example_test(two_devices.gpu 120 LABEL gpu COMMAND two_devices --gpu PROPERTIES SKIP_RETURN_CODE 77)
  if(TARGET train_bags)
    penstock_example_test(train_bags 300 COMMAND train_bags "${out}/train_bags/data" --make 200)
  endif()
  if(TARGET train_pcam)
    penstock_example_test(train_pcam 300 COMMAND train_pcam "${out}/train_pcam/data" --make 2000 --epochs 4)
  endif()
  if(TARGET train_lmdb_gpu)
    penstock_example_test(train_lmdb_gpu.networks_agree 120 LABEL gpu COMMAND networks_agree PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  # The demo's scripts, with fewer pictures and slides.
  if(PENSTOCK_TOOL)
    penstock_example_test(train_lmdb 600 PROPERTIES SKIP_RETURN_CODE 77
      COMMAND "${here}/train_lmdb/run" --build "${penstock_BINARY_DIR}" --out "${out}/train_lmdb/data" --crops 400 --epochs 6)
    penstock_example_test(train_lmdb_gpu 600
      COMMAND "${here}/train_lmdb_gpu/run" --build "${penstock_BINARY_DIR}" --out "${out}/train_lmdb_gpu/data" --crops 400
              --epochs 3 --photos none)
    penstock_example_test(train_slides 600
      COMMAND "${here}/train_slides/run" --build "${penstock_BINARY_DIR}" --out "${out}/train_slides/data" --slides 3)
    penstock_example_test(train_regions 600
      COMMAND "${here}/train_slides/run_regions" --build "${penstock_BINARY_DIR}" --out "${out}/train_slides/regions"
              --patients 8)
  endif()
  if(TARGET train_libtorch)
    penstock_example_test(train_libtorch 300 COMMAND train_libtorch PROPERTIES PROCESSORS 2)
  endif()
  if(TARGET train_mpi)
    penstock_example_test(train_mpi 300 PROPERTIES PROCESSORS 2
      COMMAND "${here}/train_mpi/run" --program "$<TARGET_FILE:train_mpi>" --mpirun "${MPIEXEC_EXECUTABLE}"
              --out "${out}/train_mpi/out")
    # Without the program, or without MPI, it says what to do.
    penstock_example_test(train_mpi_not_built 120 COMMAND "${here}/train_mpi/run" --program /nonexistent/train_mpi
      PROPERTIES PASS_REGULAR_EXPRESSION
      "has not been built.*cmake --preset release.*--target train_mpi.*apt-get install libopenmpi-dev")
    penstock_example_test(train_mpi_without_mpi 120
      COMMAND "${here}/train_mpi/run" --program "$<TARGET_FILE:train_mpi>" --mpirun /nonexistent/mpirun
      PROPERTIES PASS_REGULAR_EXPRESSION "mpirun was not found: install MPI .*apt-get install openmpi-bin")
  endif()
endfunction()
