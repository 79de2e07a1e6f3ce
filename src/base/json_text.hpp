#pragma once

#include <string>
#include <string_view>

namespace penstock::detail {

/// The text as a JSON string, quotes included. Keys of a store may be any bytes; what is no UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

}  // namespace penstock::detail
