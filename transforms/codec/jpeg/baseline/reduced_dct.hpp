// SPDX-License-Identifier: Apache-2.0
// Makes fewer values than a block has: the picture at a half, a quarter or an eighth of its size.
#pragma once

#include "inverse_dct.hpp"

namespace penstock::jpeg::baseline {

// `size` is 4, 2 or 1.
InverseDct reduced_dct(int size);

}  // namespace penstock::jpeg::baseline
