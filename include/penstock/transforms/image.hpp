// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All image stages. Neighbouring image stages on one field fold into one pass over the field's pixels. Only
/// color_jitter, stain_jitter, normalize_stain and random_erasing do not fold, because they work on whole images, and
/// mixup and cutmix, which work on whole batches.
#include <penstock/transforms/image/color_jitter.hpp>
#include <penstock/transforms/image/convert.hpp>
#include <penstock/transforms/image/convert_boxes.hpp>
#include <penstock/transforms/image/crop.hpp>
#include <penstock/transforms/image/cutmix.hpp>
#include <penstock/transforms/image/flip.hpp>
#include <penstock/transforms/image/letterbox.hpp>
#include <penstock/transforms/image/mixup.hpp>
#include <penstock/transforms/image/normalize.hpp>
#include <penstock/transforms/image/normalize_stain.hpp>
#include <penstock/transforms/image/random_erasing.hpp>
#include <penstock/transforms/image/random_resized_crop.hpp>
#include <penstock/transforms/image/resize.hpp>
#include <penstock/transforms/image/rot90.hpp>
#include <penstock/transforms/image/stage.hpp>
#include <penstock/transforms/image/stain_fit.hpp>
#include <penstock/transforms/image/stain_jitter.hpp>
