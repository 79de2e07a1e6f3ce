// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/sources/hdf5.hpp>

#include "source/file.hpp"

namespace penstock::hdf5 {

/// Returns the fields of a file if none are named: every dataset that has a dimension, in the order of their paths'
/// bytes. A compound dataset gives every column. Adds what is left out, and why, to `left_out`. @throws
/// Error(schema_mismatch) if their first dimensions differ, or there is no field.
std::vector<Hdf5Field> all_fields(const File& file, std::vector<std::string>& left_out);

/// Returns for example "x", "group/x", "cells/area".
std::string field_name(const Hdf5Field& field);

}  // namespace penstock::hdf5
