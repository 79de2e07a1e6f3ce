#pragma once

#include <penstock/sources/feature_sink.hpp>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// The type of texts of any length. Under the lock.
Handle text_type();

/// Gives an object an attribute that it hasn't got. Under the lock. Negative where the library failed.
herr_t write_attribute(hid_t object, const FeatureAttribute& attribute);

}  // namespace penstock::hdf5
