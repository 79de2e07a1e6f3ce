// SPDX-License-Identifier: Apache-2.0
// The built-in stages by what they work on. A new stage is a row in one of these lists, and a function next to it that
// creates the stage from its arguments.
#pragma once

#include <string>
#include <vector>

#include "stages/stage_arguments.hpp"
#include "stages/stage_parser.hpp"

namespace penstock::cli {

/// Which records are read, and in which order.
std::vector<StageSyntax> order_stages();
/// What is checked, and what happens to bad samples.
std::vector<StageSyntax> error_stages();
/// Encoded images to pixels and back.
std::vector<StageSyntax> codec_stages();
/// Where pixels of an image, and of its masks, are.
std::vector<StageSyntax> geometry_stages();
/// What the values of an image's pixels are.
std::vector<StageSyntax> pixel_stages();
/// Which fields there are, and their types.
std::vector<StageSyntax> field_stages();
/// How samples become batches.
std::vector<StageSyntax> batch_stages();

/// Parameter of a stage that works on one image; read by `field_of`.
inline constexpr Parameter image_field{"field", "image"};
inline std::string field_of(const Arguments& a) { return a.text("field", "image"); }

}  // namespace penstock::cli
