// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/schema.hpp>

namespace penstock::detail {

/// Returns advice for an error message: how to turn a field into an image, which is u8 or u16 [H, W, C].
std::string way_to_image(const Field& field);

}  // namespace penstock::detail
