#pragma once

/// The core: everything but sources and transforms, which have a header each below sources/ and transforms/.
#include <penstock/batch.hpp>
#include <penstock/batch_stage.hpp>
#include <penstock/device.hpp>
#include <penstock/device_stage.hpp>
#include <penstock/dtype.hpp>
#include <penstock/error.hpp>
#include <penstock/executor.hpp>
#include <penstock/image_op.hpp>
#include <penstock/image_stage.hpp>
#include <penstock/loader.hpp>
#include <penstock/memory.hpp>
#include <penstock/order.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/place.hpp>
#include <penstock/report.hpp>
#include <penstock/rng.hpp>
#include <penstock/sample.hpp>
#include <penstock/schema.hpp>
#include <penstock/shape.hpp>
#include <penstock/sink.hpp>
#include <penstock/source.hpp>
#include <penstock/stage.hpp>
#include <penstock/tensor.hpp>
#include <penstock/transform.hpp>
#include <penstock/version.hpp>
