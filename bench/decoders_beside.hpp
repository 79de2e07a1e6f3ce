// SPDX-License-Identifier: Apache-2.0
// What Pillow and OpenCV do with the files of a row, by bench/vs/decoders.py.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness.hpp"

namespace penstock::bench {

// Notes the images per second of each. `job` is the script's. `suffix` is ".png" or ".jpg". Without `settings.python`,
// notes how they can be measured.
void note_decoders_beside(Row& row, const Settings& settings, const std::string& job,
                          const std::vector<std::vector<std::byte>>& files, const std::string& suffix);

}  // namespace penstock::bench
