// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Stages that change the numbers of any field.
#include <penstock/transforms/numeric/cast.hpp>
#include <penstock/transforms/numeric/one_hot.hpp>
#include <penstock/transforms/numeric/sample_rows.hpp>
