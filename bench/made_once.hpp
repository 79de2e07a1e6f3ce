// SPDX-License-Identifier: Apache-2.0
// Makes data sets, each only once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "data.hpp"

namespace penstock::bench {

// Returns the data set in `folder`. If it is not complete, calls `make`, which fills the folder and returns the
// description. The description is written last, when everything else is on the disk.
Store made_once(const std::filesystem::path& folder, std::uint64_t records, const std::function<std::string()>& make);

// Fills `out` with bytes that are the same for the same seed.
void fill_random(std::span<std::byte> out, std::uint64_t seed);

}  // namespace penstock::bench
