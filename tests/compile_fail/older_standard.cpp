// SPDX-License-Identifier: Apache-2.0
// option: -std=c++17
// expect: Penstock needs C++20: compile with -std=c++20 or newer
#include <penstock/detail/export.hpp>
