// SPDX-License-Identifier: Apache-2.0
// Tables with which kernels outside of the executor, for instance on a GPU, make the same bits as the executor.
#pragma once

#include <cstddef>
#include <span>

#include <penstock/extend/image_executor.hpp>

namespace penstock::image {

// See ImageExecutor::resample_tables. REQUIRES: the source of `op` has 8 bits per value.
std::span<const std::byte> make_resample_tables(const ImageOp& op, Scratch& scratch);

}  // namespace penstock::image
