// SPDX-License-Identifier: Apache-2.0
#include "engine/row_maker.hpp"

#include <utility>

#include "pipeline/outcome.hpp"

namespace penstock::detail::runtime {

namespace {

/// Appends values whose size differs between samples to the batch's memory.
class BufferOutlet final : public RowOutlet {
 public:
  explicit BufferOutlet(BatchBuffer& buffer) : buffer_(buffer) {}
  std::byte* append(std::size_t bytes) override {
    try {
      return buffer_.arena.append(bytes);
    } catch (...) {
      BatchRing::note_overflow(buffer_);
      throw;
    }
  }

 private:
  BatchBuffer& buffer_;
};

void fail_row(BatchBuffer& buffer, std::uint64_t row, Error error, bool fatal) {
  const std::lock_guard lock(buffer.bad_mutex);
  buffer.bad.push_back({row, std::move(error), fatal});
}

}  // namespace

void RowMaker::fill_row(ChainRun& run, BatchBuffer& buffer, std::uint64_t row, std::uint64_t ticket) const {
  for (std::size_t f = 0; f < run.row.fields.size(); ++f) run.row.fields[f] = ring_.address(buffer, f, row);
  BufferOutlet outlet(buffer);
  if (ring_.layout().row().varying() != 0) run.append_to(outlet);
  const std::uint64_t index = buffer.indices[row];
  Outcome outcome;
  Attempts attempts(chain_.data(), positions_.place(buffer.epoch, buffer.first + row), index, outcome);
  while (!attempts.over()) {
    const Place& place = attempts.place();
    try {
      attempts.made(chain_.run(run, place, attempts.index(), run.row.fields,
                               place.attempt == 0 ? run.counters.stands_for(ticket) : 0));
    } catch (...) {
      run.copied_bytes = 0;
      attempts.failed(chain_.describe_failure(run, attempts.index()));
    }
  }
  const bool cleared = outcome.masked || outcome.fatal;
  if (!cleared && ring_.layout().row().varying() != 0) note_varying(run, buffer, row);
  if (outcome.attempt == 0 && !outcome.bad && !outcome.fatal) [[likely]]
    return;
  if (cleared) {
    ring_.clear_row(buffer, row);
    buffer.mask[row] = 0;
  }
  if (outcome.bad) fail_row(buffer, row, std::move(*outcome.bad), false);
  if (outcome.fatal) return fail_row(buffer, row, std::move(*outcome.fatal), true);
  if (outcome.attempt == 0) return;
  const std::lock_guard lock(buffer.bad_mutex);
  buffer.replaced.push_back({row, outcome.index});
}

void RowMaker::note_varying(const ChainRun& run, BatchBuffer& buffer, std::uint64_t row) const noexcept {
  for (std::size_t f = 0; f < ring_.layout().fields(); ++f) {
    const RowField& field = ring_.layout().row()[f];
    if (field.kind == RowField::Kind::dense) continue;
    const RaggedRow& made = run.row.varying[field.varying];
    ring_.layout().note(buffer, f, row, made.data, made.shape);
  }
}

}  // namespace penstock::detail::runtime
