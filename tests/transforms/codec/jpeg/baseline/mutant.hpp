// SPDX-License-Identifier: Apache-2.0
// Damage to a JPEG.
#pragma once

#include "transforms/codec/jpeg/plain_jpeg.hpp"

namespace penstock_test {

// The file with one to three faults of a random kind: changed bits, bytes and runs of bytes, bytes that are taken out,
// put in or moved, markers put in or changed, a cut, another header.
Bytes damaged(const Bytes& file, Numbers& numbers);

}  // namespace penstock_test
