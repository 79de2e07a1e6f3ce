// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/schema.hpp>

namespace penstock::detail {

/// Returns advice for an error: what to do with a field that is not an image, u8 or u16[H, W, C], to make it one.
std::string way_to_image(const Field& field);

}  // namespace penstock::detail
