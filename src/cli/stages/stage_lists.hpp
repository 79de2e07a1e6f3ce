// SPDX-License-Identifier: Apache-2.0
// Lists the built-in stages, grouped by what they work on. A new stage is a row in one of these lists, and a function
// next to it that creates the stage from its arguments.
#pragma once

#include <string>
#include <vector>

#include <penstock/stages/image_fields.hpp>

#include "stages/stage_arguments.hpp"
#include "stages/stage_parser.hpp"

namespace penstock::cli {

/// Stages that choose records, or change their order.
std::vector<StageSyntax> order_stages();
/// Stages that check samples, and decide what happens to bad ones.
std::vector<StageSyntax> error_stages();
/// Stages that decode images to pixels, and encode pixels.
std::vector<StageSyntax> codec_stages();
/// Stages that move pixels of an image, and of its masks.
std::vector<StageSyntax> geometry_stages();
/// Stages that change the values of an image's pixels.
std::vector<StageSyntax> pixel_stages();
/// Stages that change which fields there are, and their types.
std::vector<StageSyntax> field_stages();
/// Stages that decide how samples become batches.
std::vector<StageSyntax> batch_stages();

/// The parameter with which a stage that works on one image gets the image's field. `field_of` reads it.
inline constexpr Parameter image_field{"field", "image"};
inline std::string field_of(const Arguments& a) { return a.text("field", "image"); }
/// The parameter with which a stage gets an image's field, and the fields that follow it. `fields_of` reads it.
inline constexpr Parameter image_fields{"field", "image,mask|mask:nearest|boxes:boxes"};
ImageFields fields_of(const Arguments& a);

}  // namespace penstock::cli
