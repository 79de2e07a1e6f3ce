#pragma once

#include <string>
#include <vector>

#include <penstock/sources/hdf5.hpp>

#include "source/file.hpp"

namespace penstock::hdf5 {

/// The fields of a file where none are named: every dataset that has a dimension, in the order of their paths' bytes,
/// of compound ones every column. What is none of them, and why, is added to `left_out`. @throws Error(schema_mismatch)
/// when their first dimensions differ or there is none.
std::vector<Hdf5Field> all_fields(const File& file, std::vector<std::string>& left_out);

/// "x", "group/x", "cells/area"
std::string field_name(const Hdf5Field& field);

}  // namespace penstock::hdf5
