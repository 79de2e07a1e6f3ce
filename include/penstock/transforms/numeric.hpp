// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Stages for fields of numbers of any shape: they convert numbers, make one-hot rows, and draw rows.
#include <penstock/transforms/numeric/cast.hpp>
#include <penstock/transforms/numeric/one_hot.hpp>
#include <penstock/transforms/numeric/sample_rows.hpp>
