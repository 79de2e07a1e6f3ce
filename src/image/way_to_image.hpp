#pragma once

#include <string>

#include <penstock/schema.hpp>

namespace penstock::detail {

/// What to do with a field that is none of an image, u8 or u16[H, W, C], so that it becomes one: advice for an error.
std::string way_to_image(const Field& field);

}  // namespace penstock::detail
