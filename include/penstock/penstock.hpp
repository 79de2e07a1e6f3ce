// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Includes all headers of the core that a training loop uses. Each source and each transform has its own header, in
/// sources/ and transforms/. Headers for custom parts of a pipeline are in extend/. Headers for tensors of other
/// libraries and for CUDA are in interop/.
#include <penstock/batch.hpp>
#include <penstock/class_names.hpp>
#include <penstock/classes.hpp>
#include <penstock/device.hpp>
#include <penstock/dtype.hpp>
#include <penstock/error.hpp>
#include <penstock/executor.hpp>
#include <penstock/join.hpp>
#include <penstock/loader.hpp>
#include <penstock/memory.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/rank.hpp>
#include <penstock/report.hpp>
#include <penstock/schema.hpp>
#include <penstock/shape.hpp>
#include <penstock/stages/batch.hpp>
#include <penstock/stages/box_format.hpp>
#include <penstock/stages/cache.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/collate.hpp>
#include <penstock/stages/draw.hpp>
#include <penstock/stages/fields.hpp>
#include <penstock/stages/filter.hpp>
#include <penstock/stages/flat_map.hpp>
#include <penstock/stages/image_fields.hpp>
#include <penstock/stages/map.hpp>
#include <penstock/stages/map_batches.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/stages/order.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/state.hpp>
#include <penstock/tensor.hpp>
#include <penstock/version.hpp>
#include <penstock/windows.hpp>
#include <penstock/write.hpp>
