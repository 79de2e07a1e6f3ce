// SPDX-License-Identifier: Apache-2.0
#include "delivery/device_lane.hpp"

#include <algorithm>
#include <utility>

#include "base/profiled_range.hpp"

namespace penstock::detail::runtime {

namespace {

TimedWork timed_work(DeviceModel& device) {
  const DeviceGuard entered(device);
  return TimedWork(device);
}

}  // namespace

DeviceLane::DeviceLane(DeviceRing& ring, std::size_t number, const BatchLayout& whole, std::size_t buffers,
                       const MemoryPlan& plan, Trace* trace)
    : ring_(ring),
      device_(ring.device(number)),
      number_(number),
      whole_(whole),
      copies_time_(timed_work(device_)),
      stages_time_(ring.data().device ? timed_work(device_) : TimedWork()),
      place_time_(timed_work(device_)),
      starved_time_(timed_work(device_)) {
  if (trace != nullptr) {
    enqueues_ = &trace->line("to " + to_string(device_.device()));
    waits_ = &trace->line("read by " + to_string(device_.device()));
  }
  const DeviceGuard entered(device_);
  if (const auto& program = ring_.data().device)
    prep_.emplace(ring_.devices()[number], ring_.memory(number), program, ring_.made_layout(), ring_.layout(),
                  plan.device_images_limit, ring_.data().check_value().verify);
  if (whole_.row().appends())
    rows_.emplace(ring_, number, whole_, buffers, plan.device_rows_limit, plan.device_rows_option);
  copies_ = device_.make_stream("copy", DeviceModel::Priority::normal);
  for (std::size_t i = 0; i < buffers; ++i) copied_.push_back(device_.make_event());
}

// If a call fails, the device failed and has no work in progress.
DeviceLane::~DeviceLane() {
  try {
    const DeviceGuard entered(device_);
    device_.synchronize(copies_->ref());
    if (prep_) device_.synchronize(prep_->stream());
    copies_.reset();
    copied_.clear();
    rows_.reset();
  } catch (...) {
  }
}

void DeviceLane::enqueue(const std::byte* from, std::size_t buffer, DeviceBatch& to) {
  const ProfiledRange range("enqueue batch");
  const TracedRange traced(enqueues_, "enqueue batch", to.info(number_).number);
  const StreamRef copies = copies_->ref(), writes = prep_ ? prep_->stream() : copies;
  DevicePart& part = to.parts[number_];
  const std::uint64_t rows = to.info(number_).rows;
  DeviceModel::Event& copied = *copied_[buffer];
  // If the host's memory had no room for the rows, only the BatchInfo is passed on.
  const bool whole = !to.overflow;
  // The host's own work comes first, so that the timers of streams don't include it.
  if (rows_ && whole) rows_->pack(to, buffer, part, to.info(number_));
  place_time_.begin(copies);
  wait_for_users(part, writes);
  if (prep_ && whole) {
    const StreamRef rows_stream = prep_->rows_stream(copies);
    // Rows are copied before the stages run. So their stream waits for the users of the part's previous batch, and for
    // the stages that made this previous batch, because they may still read its rows.
    if (rows_) wait_for_users(part, rows_stream);
    if (rows_ && part.written) device_.wait(rows_stream, *part.ready);
    // The rows are copied before the wait for the memory of a raw batch, because they don't need that memory. The other
    // fields are copied after this wait. Only the larger of the two copies is timed, so that no time includes the wait.
    const bool times_rows = rows_ && rows_->packed() >= ring_.made_layout().bytes();
    if (times_rows) begin_copies(copies);
    const std::size_t row_bytes = rows_ ? rows_->enqueue(buffer, part, rows_stream) : 0;
    if (times_rows) copies_time_.end(copies, row_bytes);
    std::byte* const begun = prep_->begin(from, copies);
    if (!times_rows) begin_copies(copies);
    const std::size_t bytes = begun != from ? copy(begun, from, part, rows) : 0;
    if (!times_rows) copies_time_.end(copies, bytes);
    prep_->finish(begun, {from, whole_, part.first}, copied, part, rows, copies, stages_time_);
  } else {
    begin_copies(copies);
    std::size_t bytes = rows_ && whole ? rows_->enqueue(buffer, part, copies) : 0;
    if (whole) bytes += copy(part.data, from, part, rows);
    copies_time_.end(copies, bytes);
    device_.record(copied, copies);
    device_.record(*part.ready, writes);
  }
  part.users = 0;
  part.written = true;
}

void DeviceLane::begin_copies(StreamRef copies) noexcept {
  place_time_.end(copies);
  copies_time_.begin(copies);
}

void DeviceLane::wait_for_users(const DevicePart& part, StreamRef stream) const {
  for (std::size_t i = 0; i < part.users; ++i) device_.wait(stream, *part.released[i]);
}

// Copies the fields whose rows are at fixed addresses. If this device has the whole batch, makes one copy. If several
// devices share the batch, copies this device's rows field by field. Returns the copied bytes.
std::size_t DeviceLane::copy(std::byte* to, const std::byte* from, const DevicePart& part, std::uint64_t rows) const {
  const BatchLayout& layout = ring_.made_layout();
  const StreamRef copies = copies_->ref();
  if (layout.rows() == whole_.rows()) {
    if (layout.bytes() != 0) device_.copy(to, from, layout.bytes(), copies);
    return layout.bytes();
  }
  std::size_t bytes = 0;
  for (std::size_t f = 0; f < layout.fields(); ++f) {
    const std::size_t row = layout.row()[f].row_bytes;
    if (row == 0 || rows == 0) continue;
    device_.copy(to + layout.offset(f), from + whole_.offset(f) + part.first * row, row * rows, copies);
    bytes += row * rows;
  }
  return bytes;
}

void DeviceLane::ask(StreamRef stream) noexcept {
  if (stream.device() == host()) return;
  try {
    const DeviceGuard entered(device_);
    starved_time_.begin(stream);
  } catch (...) {  // other calls will report the device's failure
  }
}

void DeviceLane::arrive(DeviceBatch& batch, StreamRef stream) {
  const DeviceModel::Event& ready = *batch.parts[number_].ready;
  const DeviceGuard entered(device_);
  if (stream.device() == host()) return device_.synchronize(ready);
  device_.wait(stream, ready);
  starved_time_.end(stream);
}

DeviceCounts DeviceLane::counts() const {
  return {to_string(device_.device()), copies_time_.counts(), stages_time_.counts(), place_time_.counts(),
          starved_time_.counts()};
}

void DeviceLane::wait_until_read(std::size_t buffer) const {
  const ProfiledRange range("wait until read");
  const TracedRange traced(waits_, "wait until read");
  device_.synchronize(*copied_[buffer]);
}

bool DeviceLane::was_read(std::size_t buffer) const { return device_.reached(*copied_[buffer]); }

void DeviceLane::recover() {
  const DeviceGuard entered(device_);
  device_.synchronize(copies_->ref());
  if (!prep_) return;
  device_.synchronize(prep_->stream());
  prep_->forget();
}

void DeviceLane::describe(Report& report, std::size_t depth) const {
  const std::string where = to_string(device_.device());
  report.memory.insert(
      report.memory.begin() + 1,
      {device_.is_host() ? "batches after the stages" : "batches on " + where, depth, ring_.layout().bytes()});
  if (rows_)
    report.memory.insert(report.memory.begin() + 2,
                         {{"rows of any size on " + where, depth, rows_->capacity()},
                          {"the same, pinned for " + where, copied_.size(), rows_->staged()}});
  if (rows_)
    if (std::string note = rows_->note();
        !note.empty() && std::find(report.notes.begin(), report.notes.end(), note) == report.notes.end())
      report.notes.push_back(std::move(note));
  if (prep_) prep_->describe(report);
}

}  // namespace penstock::detail::runtime
