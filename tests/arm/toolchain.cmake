# SPDX-License-Identifier: Apache-2.0
# Cross compiles for arm64 on Debian. PENSTOCK_ARM_SYSROOT in the environment is what tests/arm/sysroot made.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(sysroot "$ENV{PENSTOCK_ARM_SYSROOT}")
if(NOT sysroot)
  message(FATAL_ERROR "tests/arm/toolchain.cmake: PENSTOCK_ARM_SYSROOT is not set; tests/arm/run sets it")
endif()
set(CMAKE_FIND_ROOT_PATH "${sysroot}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# No CMAKE_SYSROOT: the C library is the cross compiler's own, as that of the packages names absolute paths.
set(libs "${sysroot}/usr/lib/aarch64-linux-gnu")
set(CMAKE_CXX_FLAGS_INIT "-isystem ${sysroot}/usr/include -isystem ${sysroot}/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${libs} -Wl,-rpath-link,${libs}:${sysroot}/lib/aarch64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${sysroot}")
