// SPDX-License-Identifier: Apache-2.0
// How data sets are made, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "data.hpp"

namespace penstock::bench {

// `make` fills the folder and returns the description, which is written when all else is on the disk.
Store made_once(const std::filesystem::path& folder, std::uint64_t records, const std::function<std::string()>& make);

// Fills `out` with bytes that are the same for the same seed.
void fill_random(std::span<std::byte> out, std::uint64_t seed);

}  // namespace penstock::bench
