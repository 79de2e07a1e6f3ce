// SPDX-License-Identifier: Apache-2.0
// expect: penstock: `label` is a field's name, or a function that takes a file's path: [](std::string_view path) {...}
#include <penstock/sources/files.hpp>
namespace ps = penstock;
#ifdef BROKEN
const ps::Files files{.root = "scans", .label = {"patient", [](int index) { return index; }}};
#else
const ps::Files files{.root = "scans", .label = {"patient", [](std::string_view path) { return path.substr(0, 4); }}};
#endif
