// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::remote {

/// Returns the file with the certificates that are trusted: `given`, or else what the environment names, or else the
/// first file that is where systems put it. Returns an empty text if there is none.
std::string find_certificates(const std::string& given);

}  // namespace penstock::remote
