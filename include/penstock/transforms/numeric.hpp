#pragma once

/// Stages on the numbers of any field.
#include <penstock/transforms/numeric/cast.hpp>
#include <penstock/transforms/numeric/one_hot.hpp>
