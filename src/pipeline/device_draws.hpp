#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/image_op.hpp>
#include <penstock/state.hpp>

#include "pipeline/device_program.hpp"

namespace penstock::detail {

/// What image stages after `batch` ask for one row: an ImageOp for each step; empty ones for steps of users' stages.
/// `at` is set to the label of the stage in work, for errors. @throws what the stages throw; Error(unsupported) where
/// they can't be one operation.
void compose_row(const DeviceProgram& program, std::uint64_t seed, const Place& place, std::vector<ImageOp>& ops,
                 const std::string** at);

/// Draws for one row, to the destination of each step that has draws, in the steps' order. `ops` is room that is kept.
void draw_row(const DeviceProgram& program, std::uint64_t seed, const Place& place,
              std::span<std::byte* const> destinations, std::vector<ImageOp>& ops, const std::string** at);

}  // namespace penstock::detail
