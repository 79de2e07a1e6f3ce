// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of these headers: MAJOR.MINOR.PATCH.
#define PENSTOCK_VERSION_MAJOR 0
/// See PENSTOCK_VERSION_MAJOR.
#define PENSTOCK_VERSION_MINOR 1
/// See PENSTOCK_VERSION_MAJOR.
#define PENSTOCK_VERSION_PATCH 0
