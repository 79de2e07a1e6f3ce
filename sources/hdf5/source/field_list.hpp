// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/sources/hdf5.hpp>

#include "source/file.hpp"

namespace penstock::hdf5 {

/// Returns all fields of a file, for a source whose options name no fields. Every dataset that has a dimension is a
/// field. If it is a compound dataset, every column is a field. Leaves out datasets that can't be opened, and links
/// that are not followed. Adds sentences about what is left out to `left_out`. The fields are sorted by the paths of
/// their datasets, byte by byte. @throws Error(schema_mismatch) if the datasets' first dimensions differ, or there is
/// no field. If there is no field because datasets can't be read, @throws Error(unsupported).
std::vector<Hdf5Field> all_fields(const File& file, std::vector<std::string>& left_out);

/// Returns the field's name in the options. If that is empty, returns the path of the dataset, and of the column if
/// there is one, such as "x", "group/x" or "cells/area".
std::string field_name(const Hdf5Field& field);

}  // namespace penstock::hdf5
