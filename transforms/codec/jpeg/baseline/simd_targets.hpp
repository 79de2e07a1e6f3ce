// SPDX-License-Identifier: Apache-2.0
// The instruction sets for which the kernels are built. Include it before Highway, outside of any namespace.
#pragma once

#ifdef HIGHWAY_HWY_DETECT_TARGETS_H_
#error "Highway has chosen its instruction sets already: include simd_targets.hpp before it"
#endif

#define HWY_WANT_AVX3_DL
// On ARM, NEON is used: its registers of 16 bytes suit blocks of 8 x 8. SVE has no operations on 16-byte parts of its
// registers.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
