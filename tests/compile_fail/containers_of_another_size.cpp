// SPDX-License-Identifier: Apache-2.0
// option: -D_GLIBCXX_DEBUG
// expect: Penstock was built without _GLIBCXX_DEBUG
#include <penstock/error.hpp>
