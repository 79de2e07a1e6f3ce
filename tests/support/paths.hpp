// SPDX-License-Identifier: Apache-2.0
// Where the build has put what a test runs or loads.
#pragma once

#include <string>

namespace penstock_test {

// The path that penstock_test(... PATHS NAME=PATH) gives this program. It stands in a file beside the program, not in
// its code: objects are the same in every build folder. Throws where the program has no such name.
std::string path_of(const std::string& name);

}  // namespace penstock_test
