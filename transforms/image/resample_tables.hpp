// What a kernel elsewhere needs to resample as the executor does.
#pragma once

#include <cstddef>
#include <span>

#include <penstock/extend/image_executor.hpp>

namespace penstock::image {

// See ImageExecutor::resample_tables. `op` is of 8 bits.
std::span<const std::byte> make_resample_tables(const ImageOp& op, Scratch& scratch);

}  // namespace penstock::image
