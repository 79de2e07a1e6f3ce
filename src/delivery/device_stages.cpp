// SPDX-License-Identifier: Apache-2.0
#include "delivery/device_stages.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/float_mode.hpp>

#include "base/failure.hpp"
#include "base/profiled_range.hpp"

namespace penstock::detail::runtime {

namespace {

std::size_t aligned_batch(std::size_t bytes) {
  return (bytes + BatchLayout::field_alignment - 1) / BatchLayout::field_alignment * BatchLayout::field_alignment;
}

// Returns whether the field's value of this step is delivered: no later step removes or replaces it.
bool makes_last(const DeviceProgram& program, std::size_t step, const std::string& field) {
  for (std::size_t later = step + 1; later < program.steps.size(); ++later) {
    const DeviceStep& s = program.steps[later];
    const auto slot = s.out.find(field);
    if (!slot || s.made[*slot]) return false;
  }
  return true;
}

std::size_t batch_bytes(const Field& field, std::uint64_t rows, const std::string& label) {
  constexpr std::uint64_t most = std::numeric_limits<std::size_t>::max() / 16;
  const std::uint64_t element = size_of(field.dtype), elements = field.shape.elements();
  if (elements != 0 && (elements > most / element || rows > most / (elements * element)))
    throw Error(Errc::limit_exceeded, "a batch of field \"" + field.name + "\", " +
                                          std::string(to_string(field.dtype)) + field.shape.to_string() +
                                          ", does not fit any memory")
        .with_stage(label);
  return static_cast<std::size_t>(elements * element * rows);
}

// Returns the bytes of values between stages. Decoded images are not counted, because DeviceDecode has their memory.
std::size_t bytes_between(const DeviceProgram& program, std::uint64_t rows) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (program.steps[i].kind == DeviceStep::Kind::decode) continue;
    for (std::size_t slot = 0; slot < program.steps[i].out.size(); ++slot) {
      const Field& field = program.steps[i].out[slot];
      if (program.steps[i].made[slot] && !makes_last(program, i, field.name))
        bytes += aligned_batch(batch_bytes(field, rows, program.steps[i].label));
    }
  }
  return bytes;
}

}  // namespace

std::size_t DeviceStages::bytes(const DeviceProgram& program, const BatchLayout& raw, bool on_host) {
  return (on_host ? 0 : raw_batches * raw.bytes()) + bytes_between(program, raw.rows());
}

DeviceStages::DeviceStages(std::shared_ptr<DeviceModel> device, MemoryResource& memory,
                           std::shared_ptr<const DeviceProgram> program, const BatchLayout& raw,
                           const BatchLayout& delivered, std::size_t images_limit, bool verifies)
    : device_(std::move(device)),
      program_(std::move(program)),
      raw_layout_(raw),
      delivered_layout_(delivered),
      resource_(memory),
      between_bytes_(bytes_between(*program_, raw.rows())) {
  const DeviceGuard entered(*device_);
  prep_ = device_->make_stream("prep", DeviceModel::Priority::high);
  if (!device_->is_host()) raws_.resize(raw_batches);
  for (Raw& r : raws_) r.read = device_->make_event();
  plan();
  for (Launch& launch : launches_)
    if (launch.step->kind == DeviceStep::Kind::decode) try {
        launch.decode =
            std::make_unique<DeviceDecode>(device_, resource_, *launch.step, raw.rows(), images_limit, verifies);
      } catch (...) {
        throw current_error().with_stage(launch.step->label);
      }
  memory_bytes_ = bytes(*program_, raw, device_->is_host());
  if (memory_bytes_ == 0) return;
  memory_ = static_cast<std::byte*>(resource_.allocate(memory_bytes_, BatchLayout::field_alignment));
  for (std::size_t i = 0; i < raws_.size(); ++i) raws_[i].data = memory_ + i * raw.bytes();
  between_ = memory_ + raws_.size() * raw.bytes();
}

// Waits until the enqueued work has ended, before memory is freed.
DeviceStages::~DeviceStages() {
  try {
    const DeviceGuard entered(*device_);
    device_->synchronize(prep_->ref());
    prep_.reset();
    raws_.clear();
    launches_.clear();
  } catch (...) {  // the device failed and has no work in progress
  }
  if (memory_ != nullptr) resource_.deallocate(memory_, memory_bytes_, BatchLayout::field_alignment);
}

void DeviceStages::plan() {
  using In = FieldLocation::In;
  const auto place = [](const BatchLayout& layout, std::size_t slot, In in, const Field& field) {
    const RowField& row = layout.row()[slot];
    if (row.kind == RowField::Kind::ragged) return FieldLocation{In::rows, slot, 0, field.dtype, field.shape};
    Shape shape = field.shape;
    if (row.kind == RowField::Kind::padded) {
      std::vector<std::int64_t> dims(shape.rank());
      for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = i == 0 ? row.to : shape[i];
      shape = Shape(std::span<const std::int64_t>(dims));
    }
    return FieldLocation{in, layout.offset(slot), row.row_bytes, field.dtype, shape};
  };
  std::vector<FieldLocation> now;
  for (std::size_t slot = 0; slot < program_->sample.size(); ++slot)
    now.push_back(place(raw_layout_, slot, In::raw, program_->sample[slot]));
  std::size_t between = 0;
  for (std::size_t i = 0; i < program_->steps.size(); ++i) {
    const DeviceStep& step = program_->steps[i];
    Launch& launch = launches_.emplace_back();
    launch.step = &step;
    launch.in = now;
    if (step.draws) launch.draws = {In::raw, raw_layout_.offset(*step.draws), step.draw_bytes, DType::u8, Shape{}};
    for (std::size_t slot = 0; slot < step.out.size(); ++slot) {
      const Field& field = step.out[slot];
      if (step.kind == DeviceStep::Kind::decode && field.name == step.field) {
        launch.out.push_back({In::decoded, i, 0, field.dtype, field.shape});
      } else if (!step.made[slot]) {
        launch.out.push_back(now[step.in.slot(field.name)]);
      } else if (makes_last(*program_, i, field.name)) {
        launch.out.push_back(place(delivered_layout_, program_->delivered().slot(field.name), In::delivered, field));
      } else {
        const auto row_bytes = static_cast<std::size_t>(field.shape.elements() * size_of(field.dtype));
        launch.out.push_back({In::between, between, row_bytes, field.dtype, field.shape});
        between += aligned_batch(row_bytes * raw_layout_.rows());
      }
    }
    now = launch.out;
  }
  for (std::size_t slot = 0; slot < program_->delivered().size(); ++slot)
    if (now[slot].in == In::raw)
      kept_.emplace_back(now[slot], place(delivered_layout_, slot, In::delivered, program_->delivered()[slot]));
}

namespace {

const PackedField& packed_field(const DevicePart& part, std::size_t field) {
  return *std::find_if(part.tables.begin(), part.tables.end(),
                       [&](const PackedField& packed) { return packed.field == field; });
}

TensorView elements_of(const PackedField& packed, DType dtype) { return {packed.data, dtype, Shape{packed.elements}}; }

TensorView offsets_of(const PackedField& packed, std::uint64_t rows) {
  return {packed.table, DType::i64, Shape{static_cast<std::int64_t>(rows) + 1}};
}

}  // namespace

TensorView DeviceStages::view(const FieldLocation& where, std::byte* raw, const DevicePart& to,
                              std::uint64_t rows) const {
  if (where.in == FieldLocation::In::decoded) return launches_[where.offset].images.data;
  if (where.in == FieldLocation::In::rows) return elements_of(packed_field(to, where.offset), where.dtype);
  std::byte* const base = where.in == FieldLocation::In::raw       ? raw
                          : where.in == FieldLocation::In::between ? between_
                                                                   : to.data;
  std::array<std::int64_t, Shape::max_rank + 1> dims{};
  dims[0] = static_cast<std::int64_t>(rows);
  for (std::size_t i = 0; i < where.row.rank(); ++i) dims[i + 1] = where.row[i];
  return {base + where.offset, where.dtype, Shape(std::span<const std::int64_t>(dims.data(), where.row.rank() + 1))};
}

void DeviceStages::set_views(const std::vector<FieldLocation>& wheres, std::byte* raw, const DevicePart& to,
                             std::uint64_t rows, std::vector<TensorView>& views,
                             std::vector<TensorView>& offsets) const {
  views.clear();
  offsets.clear();
  for (const FieldLocation& where : wheres) {
    views.push_back(view(where, raw, to, rows));
    offsets.push_back(where.in == FieldLocation::In::rows      ? offsets_of(packed_field(to, where.offset), rows)
                      : where.in == FieldLocation::In::decoded ? launches_[where.offset].images.offsets
                                                               : TensorView{});
  }
}

std::byte* DeviceStages::begin(const std::byte* from, StreamRef copies) {
  if (raws_.empty()) return const_cast<std::byte*>(from);
  const Raw& raw = raws_[next_];
  if (raw.used) device_->wait(copies, *raw.read);
  return raw.data;
}

void DeviceStages::finish(std::byte* begun, const HostBatch& from, DeviceModel::Event& copied, DevicePart& to,
                          std::uint64_t rows, StreamRef copies, TimedWork& stages_time) {
  const StreamRef prep = prep_->ref();
  // Usually only the copy reads the host's batch. If a decoder reads files in the batch, or the device is the host, the
  // stages read the batch too.
  const bool read_by_stages = raws_.empty() || program_->decodes();
  if (raws_.empty()) {
    run_stages(begun, from, to, rows);  // the device is the host, whose stages are not timed
  } else {
    Raw& raw = raws_[std::exchange(next_, (next_ + 1) % raws_.size())];
    device_->record(copied, copies);
    device_->wait(prep, copied);
    stages_time.begin(prep);
    run_stages(begun, from, to, rows);
    stages_time.end(prep);
    device_->record(*raw.read, prep);
    raw.used = true;
  }
  if (read_by_stages) device_->record(copied, prep);
  device_->record(*to.ready, prep);
}

void DeviceStages::decode(Launch& launch, const HostBatch& from, const DevicePart& to, std::uint64_t rows) {
  const DeviceStep& step = *launch.step;
  const std::size_t files = program_->sample.slot(step.field), ops = *step.draws;
  const std::byte* const first = from.data + from.layout.offset(ops) + from.first * from.layout.row()[ops].row_bytes;
  launch.images = launch.decode->enqueue(reinterpret_cast<const DecodeOp*>(first), packed_field(to, files),
                                         packed_field(to, *step.pixels), rows, prep_->ref());
}

void DeviceStages::run(Launch& launch, std::byte* raw, const DevicePart& to, std::uint64_t rows) {
  const FloatMode standard;
  const DeviceStep& step = *launch.step;
  set_views(launch.in, raw, to, rows, launch.in_views, launch.in_offsets);
  set_views(launch.out, raw, to, rows, launch.out_views, launch.out_offsets);
  const std::byte* const draws = step.draws ? raw + launch.draws.offset : nullptr;
  BatchView in{&step.in, launch.in_views, rows, draws, launch.in_offsets};
  if (step.tables) {
    const PackedField& packed = packed_field(to, *step.tables);
    in.tables = {elements_of(packed, DType::u8), offsets_of(packed, rows)};
    if (const FieldLocation& images = launch.in[step.in.slot(step.field)]; images.in == FieldLocation::In::decoded)
      in.decoded = launches_[images.offset].images.decoded;
  }
  step.model->run(in, {&step.out, launch.out_views, rows, draws, launch.out_offsets}, prep_->ref());
}

void DeviceStages::run_stages(std::byte* raw, const HostBatch& from, DevicePart& to, std::uint64_t rows) {
  const StreamRef prep = prep_->ref();
  if (rows == 0) return;
  for (Launch& launch : launches_) {
    const ProfiledRange range(launch.step->label);
    try {
      if (launch.decode != nullptr)
        decode(launch, from, to, rows);
      else
        run(launch, raw, to, rows);
    } catch (...) {
      throw current_error().with_stage(launch.step->label);
    }
  }
  for (const Launch& launch : launches_)
    if (launch.decode != nullptr) launch.decode->read(prep);
  for (const auto& [kept, at] : kept_)
    if (const std::size_t bytes = kept.row_bytes * static_cast<std::size_t>(rows); bytes != 0)
      device_->copy(to.data + at.offset, raw + kept.offset, bytes, prep);
}

void DeviceStages::forget() noexcept {
  for (Raw& raw : raws_) raw.used = false;
  for (const Launch& launch : launches_)
    if (launch.decode != nullptr) launch.decode->forget();
}

void DeviceStages::describe(Report& report) const {
  const std::string where = to_string(device_->device());
  auto at = report.memory.begin() + 1;
  if (!raws_.empty()) at = report.memory.insert(at, {"raw batches on " + where, raws_.size(), raw_layout_.bytes()}) + 1;
  for (const Launch& launch : launches_)
    if (launch.decode != nullptr && launch.decode->capacity() != 0)
      at = report.memory.insert(at, {"images decoded on " + where, DeviceDecode::buffers, launch.decode->capacity()}) +
           1;
  for (const Launch& launch : launches_)
    if (launch.decode != nullptr && launch.decode->refused() != 0)
      report.notes.push_back(launch.step->label + ": " + where + " took batches with a file that it can't decode; " +
                             std::to_string(launch.decode->refused()) +
                             " images of them were decoded by one thread of the host, which is slower");
  if (between_bytes_ != 0) report.memory.insert(at, {"between stages on " + where, 1, between_bytes_});
}

}  // namespace penstock::detail::runtime
