// SPDX-License-Identifier: Apache-2.0
// The instruction sets for which this folder is built. Include it before Highway, outside of any namespace.
#pragma once

#ifdef HIGHWAY_HWY_DETECT_TARGETS_H_
#error "Highway has chosen its instruction sets already: include simd_targets.hpp before it"
#endif

// On ARM, NEON is used. The sums of a row need registers of exactly 16 bytes.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
