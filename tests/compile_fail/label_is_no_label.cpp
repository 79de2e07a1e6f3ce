// SPDX-License-Identifier: Apache-2.0
// expect: penstock: the function `label` must return a whole number, the label, or text, the class's name
#include <penstock/sources/files.hpp>
namespace ps = penstock;
#ifdef BROKEN
const ps::Files files{.root = "scans", .label = [](std::string_view path) { return 0.5 * double(path.size()); }};
#else
const ps::Files files{.root = "scans", .label = [](std::string_view path) { return path.size(); }};
#endif
