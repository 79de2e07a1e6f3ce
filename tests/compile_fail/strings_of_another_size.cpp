// SPDX-License-Identifier: Apache-2.0
// option: -D_GLIBCXX_USE_CXX11_ABI=0
// expect: Penstock was built without _GLIBCXX_USE_CXX11_ABI=0
#include <penstock/error.hpp>
