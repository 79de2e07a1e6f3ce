// SPDX-License-Identifier: Apache-2.0
#include "loader/loader_setup.hpp"

#include <algorithm>
#include <string>

#include <penstock/error.hpp>

#include "base/cores.hpp"
#include "base/failure.hpp"
#include "delivery/device_stages.hpp"
#include "device/devices.hpp"
#include "device/emulated/host_device.hpp"
#include "pipeline/batch_positions.hpp"
#include "pipeline/nested_branches.hpp"
#include "pipeline/no_batch.hpp"
#include "pipeline/rank_rows.hpp"
#include "reorder/reordered.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

namespace {

void check_fields(const PipelineData& data, const RowLayout& layout) {
  data.device->need_fixed_sizes();
  for (std::size_t f = 0; f < data.schema.size(); ++f)
    if (layout[f].kind == RowField::Kind::longest)
      throw Error(
          Errc::unsupported,
          "field \"" + data.schema[f].name +
              "\" is padded to the longest row of each batch, which stages after batch don't take: pad it to a "
              "fixed length with pad(field, {.to = ...}), leave its rows as they are with ragged(field), or put "
              "the stages before batch")
          .with_stage("batch");
}

// Returns the least bytes that a batch needs for fields whose rows differ in size. If `max_bytes` is set and below
// 2^40, returns enough for that many bytes and for the alignment of rows. Otherwise returns a guess of 64 bytes per
// row, at most 1 MiB.
std::size_t min_append_bytes(const PipelineData& data) {
  constexpr std::uint64_t guess = 64, most = 1u << 20;
  const std::uint64_t rows = data.batch->rows, bound = data.batch->options.max_bytes;
  if (bound != 0 && bound < (std::uint64_t{1} << 40)) return static_cast<std::size_t>(2 * bound + 128 * rows);
  return static_cast<std::size_t>(std::min(rows * guess, most));
}

void request_device(MemoryRequest& request, const PipelineData& data, const DeviceModels& devices,
                    const BatchLayout& batch) {
  const std::uint64_t rows = max_rows_of_device(request.rows, devices.size());
  request.device.buffer_bytes = BatchLayout(data.delivered(), rows).bytes();
  request.device.is_host = devices[0]->is_host();
  // A batch has a BatchInfo. With several devices, each part of the batch has one too.
  request.device.notes_bytes = (devices.size() > 1 ? 2 : 1) * request.rows * batch.row_notes_bytes();
  if (!data.device) return;
  request.device.fixed_bytes =
      DeviceStages::bytes(*data.device, BatchLayout(data.schema, rows), request.device.is_host);
  const auto decodes = static_cast<unsigned>(
      std::count_if(data.device->steps.begin(), data.device->steps.end(),
                    [](const DeviceStep& step) { return step.kind == DeviceStep::Kind::decode; }));
  request.device.images = decodes * DeviceDecode::buffers;
  request.device.fixed_bytes += request.device.images * DeviceDecode::table_bytes(rows);
}

}  // namespace

DeviceModels open_devices(const PipelineData& data, const LoaderOptions& options) {
  DeviceModels devices;
  if (options.device_resource != nullptr &&
      (options.device == host() || options.device_resource->kind() != MemoryKind::device))
    throw Error(Errc::invalid_argument, "`device_resource` is memory of the one `device`, which is not the host");
  if (options.devices.empty()) {
    if (auto one = open_device(options.device); one != nullptr)
      devices.push_back(std::move(one));
    else if (data.device && !data.device->in_place())
      devices.push_back(
          std::make_shared<HostDevice>(options.host_memory != nullptr ? *options.host_memory : host_memory()));
    return devices;
  }
  if (options.device != host()) throw Error(Errc::invalid_argument, "say either `device` or `devices`");
  for (const Device& d : options.devices) {
    if (d == host() || std::count(options.devices.begin(), options.devices.end(), d) != 1)
      throw Error(Errc::invalid_argument, "`devices` are different GPUs, or emulated ones; here " + to_string(d) +
                                              (d == host() ? " is among them" : " stands twice"));
    devices.push_back(open_device(d));
  }
  return devices;
}

void check_steps(const PipelineData& data) {
  if (data.fixed_steps() != 0 && data.size == 0)
    throw Error(Errc::invalid_argument, "`steps_per_epoch` batches can't be made of a pipeline without samples")
        .with_stage("for_rank");
  if (const std::string why = why_no_batch(data); !why.empty())
    throw Error(Errc::invalid_argument, why)
        .with_stage("batch")
        .with_source(data.source->name())
        .with_file(data.source->file());
}

void check_neighbours(const PipelineData& data, const DeviceModels& devices) {
  const std::string* const stage = data.mixing_device_stage();
  if (stage == nullptr || devices.size() < 2) return;
  const auto refuse = [&](const std::string& why) {
    throw Error(Errc::unsupported,
                "it mixes each row with its neighbour, so each device needs an even number of rows of every batch; " +
                    why + "; make the rows that this rank has of a batch a multiple of " +
                    std::to_string(2 * devices.size()) + ", and drop or pad the last batch (Tail::drop, Tail::pad)")
        .with_stage(*stage);
  };
  const auto check = [&](std::uint64_t rows, const char* which) {
    for (std::size_t d = 0; d < devices.size(); ++d)
      if (const std::uint64_t part =
              balanced_share(rows, {.rank = static_cast<int>(d), .world = static_cast<int>(devices.size())}).count;
          part % 2 != 0)
        refuse("of the " + std::to_string(rows) + " rows of " + which + ", " + to_string(devices[d]->device()) +
               " gets " + std::to_string(part));
  };
  if (data.bounded) refuse("batches that end by the sizes or groups of samples may have any number of rows");
  check(max_rows_of_rank(data), "a batch");
  if (data.batch->options.tail != Tail::keep || data.fixed_steps() != 0) return;
  if (data.reordered()) refuse("the last batch of an epoch may have any number of rows");
  const std::uint64_t last = data.steps() - 1;
  check(BatchPositions(data).rank_rows({.number = last, .position = last * data.batch->rows}).rows,
        "the last batch of an epoch");
}

Executor own_executor(const LoaderOptions& options) {
  if (!options.tune || options.threads != 0) return Executor(options.threads);
  constexpr unsigned least = 16;
  return Executor(std::max(2 * usable_cores(), least));
}

MemoryRequest memory_request(const PipelineData& data, const LoaderOptions& options, unsigned threads,
                             const DeviceModels& devices) {
  MemoryRequest request;
  request.max_memory_bytes = options.max_memory_bytes;
  request.depth = options.depth;
  request.threads = options.threads != 0 ? std::min(options.threads, threads) : threads;
  if (options.tune) {
    if (options.threads == 0) {
      request.raises.most_threads = threads;
      if (!options.executor) request.threads = std::min(threads, std::max(usable_cores(), 2u) - 1);
    }
    request.raises.depth = options.depth == 0;
    // A change of the number of entries begins the run again, but a stream can't be read again.
    request.raises.stream = options.max_reorder_bytes == 0 && data.source->is_stream();
    request.raises.entries = options.max_reorder_bytes == 0 && !request.raises.stream;
    request.raises.blocks = options.max_block_bytes == 0;
  }
  request.rows = max_rows_of_rank(data);
  const BatchLayout batch_layout(data.schema, request.rows);
  const RowLayout& layout = batch_layout.row();
  if (!devices.empty()) {
    if (data.device) check_fields(data, layout);
    request_device(request, data, devices, batch_layout);
    request.device.count = static_cast<unsigned>(devices.size());
    if (!devices[0]->is_host() && options.host_memory == nullptr) request.pinned_buffer_bytes = batch_layout.bytes();
  }
  request.max_pinned_bytes = options.max_pinned_bytes;
  request.device.max_bytes = options.max_device_bytes;
  request.device.depth = options.device_depth;
  request.buffer_bytes = batch_layout.bytes() + request.rows * batch_layout.row_notes_bytes();
  // With a device, rows that differ in size need memory twice: in the ring, and where they are packed for the copy.
  if (layout.appends()) {
    request.append_buffer = min_append_bytes(data) * (devices.empty() ? 1 : 2);
    // Guesses at least a quarter of a device buffer, so that the plan leaves memory on the device for these rows.
    if (!devices.empty())
      request.device.rows_bytes = std::max(min_append_bytes(data) / devices.size(), request.device.buffer_bytes / 4);
  }
  if (data.reordered()) {
    request.reorder.row_bytes = WaitingRows::row_bytes(layout) + ReorderBuffer::row_notes_bytes(layout);
    request.reorder.append_row = layout.appends() ? appended_row_bytes : 0;
    request.reorder.held = static_cast<std::size_t>(window_rows_of_rank(data));
    request.reorder.entries = [&data, bytes = options.max_reorder_bytes](unsigned runners) {
      return ReorderedWork::entries_for(data, bytes, runners);
    };
    request.reorder.shared_records = [&data](unsigned runners) {
      return ReorderedWork::shared_records_for(data, runners);
    };
    request.reorder.shared_record_bytes = ReorderedWork::min_shared_record_bytes(data);
    request.reorder.stand_ins = data.flat_maps && data.policy_value().policy == OnError::replace;
  }
  for_each_nested_branch(*data.source, [&](const Branch& branch) {
    for (const Field& field : branch.pipeline->schema)
      if (field.shape.fixed())
        request.sample_bytes = std::max<std::size_t>(
            request.sample_bytes, static_cast<std::size_t>(field.shape.elements()) * size_of(field.dtype));
  });
  for (const RowField& f : layout.fields())
    request.sample_bytes = std::max<std::size_t>(request.sample_bytes, f.row_bytes);
  request.blocks = data.source->block_model() != nullptr;
  request.max_block_bytes = request.blocks ? options.max_block_bytes : 0;
  return request;
}

std::vector<bool> decodes_on_devices(const PipelineData& data, const DeviceModels& devices,
                                     std::vector<std::string>& notes) {
  if (!data.device) return {};
  const std::vector<DeviceStep>& steps = data.device->steps;
  std::vector<bool> decodes;
  for (const DeviceStep& step : steps) decodes.push_back(step.kind == DeviceStep::Kind::decode);
  // With `verify`, runners decode all images. So no device is asked.
  if (data.check_value().verify) return {};
  for (const auto& device : devices) {
    const DeviceGuard entered(*device);
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (decodes[i]) try {
          decodes[i] = steps[i].decoder->start_batches(device->device()) != nullptr;
          if (!decodes[i] && !device->is_host())
            notes.push_back(steps[i].label + ": the loader's threads decode, as " + to_string(device->device()) +
                            " does not");
        } catch (...) {
          throw current_error().with_stage(steps[i].label);
        }
  }
  return decodes;
}

}  // namespace penstock::detail::runtime
