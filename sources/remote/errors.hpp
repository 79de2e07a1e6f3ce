// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace penstock::remote {

/// The component's name in errors.
inline constexpr std::string_view source_name = "remote";

}  // namespace penstock::remote
