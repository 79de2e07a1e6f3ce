// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Stages for fields of numbers of any shape: they convert numbers, make one-hot rows, draw and drop rows, and move
/// channels.
#include <penstock/transforms/numeric/cast.hpp>
#include <penstock/transforms/numeric/channels_last.hpp>
#include <penstock/transforms/numeric/drop_hidden.hpp>
#include <penstock/transforms/numeric/keep_rows.hpp>
#include <penstock/transforms/numeric/one_hot.hpp>
#include <penstock/transforms/numeric/sample_rows.hpp>
