// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/sources/feature_sink.hpp>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Returns the type of texts that have no fixed length. Call under the lock.
Handle text_type();

/// Adds an attribute to an object. REQUIRES: the object has no attribute of this name. Returns a negative number if the
/// library failed. Call under the lock.
herr_t write_attribute(hid_t object, const FeatureAttribute& attribute);

}  // namespace penstock::hdf5
