#include "chain/chain.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "base/profiled_range.hpp"
#include "pipeline/device_draws.hpp"

namespace penstock::detail {

namespace {
const std::string read_label = "read";
}

ChainRun::ChainRun(const Chain& chain, std::size_t scratch_limit, std::unique_ptr<ReaderModel> its_reader,
                   std::size_t most_steps)
    : arena(scratch_limit), reader(std::move(its_reader)), chain_(&chain) {
  const std::vector<Step>& steps = chain.steps();
  max_bytes = chain.data().check_value().max_sample_bytes;
  counters.resize(steps.size());
  decoders.resize(steps.size());
  shared_draws.resize(chain.shared_draws());
  if (chain.layout() != nullptr) varying.resize(chain.layout()->varying());
  for (std::size_t i = 0; i < std::min(steps.size(), most_steps); ++i)
    if (steps[i].decoder != nullptr) decoders[i] = steps[i].decoder->start();
}

Chain::Chain(std::shared_ptr<const PipelineData> data)
    : data_(std::move(data)), seed_(data_->seed_value()), check_(data_->check_value()) {
  if (data_->batch) {
    layout_.emplace(data_->schema);
    BatchItem of_rank = *data_->batch;
    of_rank.rows = data_->most_rows();
    bounds_.emplace(data_->sample(), of_rank);
  }
  compile();
  assign_homes();
  check_fixed_sizes();
}

void Chain::begin(ChainRun& run, const Step& step, std::span<std::byte* const> rows) const {
  if (step.kind == Step::Kind::read || (step.kind == Step::Kind::cache && run.recalls)) {
    run.arena.reset();
    if (run.cells.size() != step.fields) run.cells.resize(step.fields);
    Cell* const cells = run.cells.data();
    for (std::size_t slot = 0; slot < step.fields; ++slot) {
      cells[slot].data = nullptr;
      cells[slot].home = nullptr;
      cells[slot].row = 0;
    }
  } else if (step.renumber == Step::Renumber::down) {
    std::size_t slot = 0;
    for (; slot < step.fields && step.from[slot] >= 0; ++slot)
      if (const auto old = static_cast<std::size_t>(step.from[slot]); old != slot) run.cells[slot] = run.cells[old];
    run.cells.resize(slot);
    run.cells.resize(step.fields);
  } else if (step.renumber == Step::Renumber::freely) {
    run.spare.assign(step.schema.size(), Cell{});
    for (std::size_t i = 0; i < step.from.size(); ++i)
      if (step.from[i] >= 0) run.spare[i] = run.cells[static_cast<std::size_t>(step.from[i])];
    std::swap(run.cells, run.spare);
  }
  // A map must see its input as it is declared before it; the others name what they read by slot.
  run.schema = &step.schema;
  for (const std::size_t slot : step.cleared)
    if (step.kind != Step::Kind::field_map && step.kind != Step::Kind::image) run.cells[slot].data = nullptr;
  if (!rows.empty()) {
    for (const Step::Home home : step.homes) run.cells[home.slot].home = rows[home.row];
    for (const Step::Home home : step.varying_homes)
      run.cells[home.slot].row = static_cast<std::uint32_t>(home.row + 1);
  }
}

// False: the sample ends here, as a filter wants it.
bool Chain::execute(ChainRun& run, std::size_t number, const Place& at, std::uint64_t index,
                    std::span<std::byte* const> rows) const {
  const Step& step = steps_[number];
  // What a cache keeps must not depend on when it is made.
  const Place of_record{0, index, 0, 0};
  const Place& place = number < cache_step_ ? of_record : at;
  switch (step.kind) {
    case Step::Kind::read: {
      SampleBuilder out(run);
      run.reader->read(index, out);
      const Cell* const cells = run.cells.data();
      for (std::size_t slot = 0; slot < step.fields; ++slot)
        if (cells[slot].data == nullptr) run.missing(slot);
      check_size(run, step);
      break;
    }
    case Step::Kind::map: {
      Sample sample(run);
      Context context(seed_, step.key, place, index, &run.stop);
      step.map->apply(sample, context);
      refuse_draws(number, context);
      check_values(run, step);
      break;
    }
    case Step::Kind::field_map: {
      Context context(seed_, step.key, place, index, &run.stop);
      run_field_map(run, step, context);
      refuse_draws(number, context);
      break;
    }
    case Step::Kind::image:
      run_fold(run, step, number, place, seed_, check_);
      break;
    case Step::Kind::filter: {
      Context context(seed_, step.key, place, index, &run.stop);
      return step.filter->keeps(Sample(run), context);
    }
    case Step::Kind::flat_map: {
      Sample child(run);
      Context context(seed_, step.key, place, index, &run.stop);
      step.flat_map->child(Sample(*run.parent), run.child, child, context);
      check_values(run, step);
      break;
    }
    case Step::Kind::cache:
      if (std::exchange(run.recalls, false)) {
        recall(run, number, index, rows);
      } else {
        Sample sample(run);
        run.reader->offer(index, sample);
      }
      break;
    case Step::Kind::draws: {
      run.draws.clear();
      for (std::size_t slot = data_->sample().size(); slot < step.fields; ++slot)
        run.draws.push_back(run.make(slot, step.schema[slot].shape));
      draw_row(*data_->device, seed_, place, run.draws, run.image_ops, &run.at);
      break;
    }
    case Step::Kind::select:
      break;
  }
  return true;
}

void Chain::run_field_map(ChainRun& run, const Step& step, Context& context) const {
  using ResultShape = Step::ResultShape;
  const FieldMapModel& map = *step.field_map;
  const Cell& in = run.cells[step.in_slot];
  TensorView from{const_cast<std::byte*>(in.data), step.in_dtype, in.shape};
  if (map.in_place) {
    from.data = run.own(step.in_slot);
    return map.apply(from, from, context);
  }
  if (step.result_shape == ResultShape::decided) {
    FieldOutput out(run, step.out_slot);
    map.make(from, out, context);
    if (!out.made())
      throw Error(Errc::schema_mismatch, "the callable returned without emplace() of its Output, so field \"" +
                                             step.schema[step.out_slot].name + "\" has no value");
    return;
  }
  Shape asked;
  if (step.result_shape == ResultShape::asked) asked = map.result({step.in_dtype, from.shape}).shape;
  const Shape& shape = step.result_shape == ResultShape::as_input ? from.shape
                       : step.result_shape == ResultShape::fixed  ? step.fixed_shape
                                                                  : asked;
  const TensorView to{run.make(step.out_slot, shape), step.out_dtype, shape};
  check_size(run, step);
  map.apply(from, to, context);
}

std::size_t Chain::first_step(ChainRun& run, std::uint64_t index) const {
  run.recalls = false;
  if (cache_step_ == 0) return 0;
  run.at = &steps_[cache_step_].label;
  run.recalls = run.reader->holds(index);
  return run.recalls ? cache_step_ : 0;
}

// What turns out to be damaged is made again.
void Chain::recall(ChainRun& run, std::size_t number, std::uint64_t index, std::span<std::byte* const> rows) const {
  const Step& step = steps_[number];
  SampleBuilder out(run);
  if (run.reader->recall(index, out)) {
    for (std::size_t slot = 0; slot < step.fields; ++slot)
      if (run.cells[slot].data == nullptr) run.missing(slot);
    check_size(run, step);
    run.totals.recalled.add(1);
    return;
  }
  run_steps(run, 0, number, {}, index, {});
  run.at = &step.label;
  begin(run, step, rows);
  Sample sample(run);
  run.reader->offer(index, sample);
}

// A callable may draw without having said so.
void Chain::refuse_draws(std::size_t number, Context& context) const {
  if (number >= cache_step_ || !context.rng().drawn() || data_->cache->allows.random) return;
  throw Error(Errc::invalid_argument, "it draws at random, and from " + data_->cache->label +
                                          ", which stands after it, every epoch would get the same draw; put it "
                                          "after the cache, or set allows.random");
}

// What a callable on the whole sample left out is as its schema says.
void Chain::check_values(const ChainRun& run, const Step& step) const {
  for (std::size_t slot = 0; slot < run.cells.size(); ++slot) {
    const Cell& cell = run.cells[slot];
    if (cell.data == nullptr) run.missing(slot);
    if (!step.schema[slot].shape.admits(cell.shape))
      run.refuse(slot, "value of shape " + cell.shape.to_string(), step.schema[slot].dtype, cell.shape.rank());
  }
  check_size(run, step);
}

void Chain::check_size(const ChainRun& run, const Step& step) const {
  for (const std::size_t slot : step.varying) {
    if (run.cells[slot].data == nullptr) continue;
    run.require_size(slot, run.cells[slot].shape.elements() * size_of(step.schema[slot].dtype));
  }
}

// Whatever does not stand in its place yet is copied there. Dense fields have fixed shapes, which every step checked.
void Chain::finish(ChainRun& run, std::span<std::byte* const> rows) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (run.cells[i].data == rows[i] || row_bytes_[i] == 0) continue;
    std::memcpy(rows[i], run.cells[i].data, row_bytes_[i]);
    run.copied_bytes += row_bytes_[i];
  }
  if (!run.varying.empty()) finish_varying(run, rows);
}

// Where a value of this shape belongs that becomes a row of the batch. One that is too long may still be cut, or left
// out by a filter.
std::byte* ChainRun::place(std::size_t row, const Shape& shape) {
  const RowField& field = (*chain_->layout())[row];
  RaggedRow& out = varying[field.varying];
  const std::uint64_t bytes = shape.elements() * size_of(chain_->data().schema[row].dtype);
  if (field.appended())
    out = {outlet->append(static_cast<std::size_t>(bytes)), shape};
  else if (shape[0] <= field.to)
    out = {rows[row], shape};
  else
    return arena.allocate(static_cast<std::size_t>(bytes));
  return out.data;
}

void Chain::finish_varying(ChainRun& run, std::span<std::byte* const> rows) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowField& field = (*layout_)[i];
    if (field.kind == RowField::Kind::dense) continue;
    const Cell& cell = run.cells[i];
    const Field& is = data_->schema[i];
    if (field.kind == RowField::Kind::padded && cell.shape[0] > field.to)
      throw Error(Errc::limit_exceeded, "field \"" + is.name + "\" has " + std::to_string(cell.shape[0]) +
                                            " elements in this sample and is padded to " + std::to_string(field.to) +
                                            "; cut it with a map, or pad to more")
          .with_stage("pad(" + is.name + ")");
    RaggedRow& out = run.varying[field.varying];
    const std::size_t bytes = static_cast<std::size_t>(cell.shape.elements()) * size_of(is.dtype);
    if (cell.data != out.data || !(cell.shape == out.shape)) {
      std::byte* const to = run.place(i, cell.shape);
      if (bytes != 0) std::memcpy(to, cell.data, bytes);
      run.copied_bytes += bytes;
    }
    if (field.kind == RowField::Kind::padded) fill_padding(field, out.data + bytes, field.row_bytes - bytes);
  }
  bounds_->check(run.varying);
}

bool Chain::run_steps(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                      std::span<std::byte* const> rows) const {
  for (std::size_t i = first; i < last; ++i) {
    run.at = &steps_[i].label;
    const ProfiledRange range(steps_[i].label);
    begin(run, steps_[i], rows);
    if (!execute(run, i, place, index, rows)) return false;
  }
  if (!rows.empty()) finish(run, rows);
  return true;
}

bool Chain::run(ChainRun& run, const Place& place, std::uint64_t index, std::span<std::byte* const> rows,
                std::uint64_t stands_for) const {
  std::size_t first = 0;
  for (RaggedRow& row : run.varying) row.data = nullptr;
  if (run.parent != nullptr) {
    first = children_begin_;
    adopt(run);
  } else {
    first = first_step(run, index);
  }
  const bool kept = stands_for == 0 ? run_steps(run, first, steps_.size(), place, index, rows)
                                    : run_measured(run, first, steps_.size(), place, index, rows, stands_for);
  run.totals.samples.add(1);
  if (run.copied_bytes != 0) {
    run.totals.copied_bytes.add(run.copied_bytes);
    run.copied_bytes = 0;
  }
  return kept;
}

// A child begins with its parent's values, which it may read but not write to.
void Chain::adopt(ChainRun& run) {
  const ChainRun& parent = *run.parent;
  run.arena.reset();
  run.schema = parent.schema;
  run.cells = parent.cells;
  for (Cell& cell : run.cells) {
    cell.home = nullptr;
    cell.row = 0;
    cell.writable = false;
  }
}

bool Chain::open(ChainRun& parent, const Place& place, std::uint64_t index, std::uint64_t stands_for) const {
  const std::size_t first = data_->source->is_stream() ? 1 : first_step(parent, index);
  const bool kept = stands_for == 0 ? run_steps(parent, first, children_begin_, place, index, {})
                                    : run_measured(parent, first, children_begin_, place, index, {}, stands_for);
  parent.totals.samples.add(1);
  // The reader goes on to another record, and what it gave to view goes with it.
  if (kept)
    for (std::size_t slot = 0; slot < parent.cells.size(); ++slot) parent.own(slot);
  parent.totals.copied_bytes.add(std::exchange(parent.copied_bytes, 0));
  return kept;
}

std::uint32_t Chain::count(ChainRun& parent, const Place& place, std::uint64_t index) const {
  const Step& step = steps_[children_begin_];
  if (children_begin_ == steps_.size() || step.kind != Step::Kind::flat_map) return 1;
  parent.at = &step.label;
  Context context(seed_, hash_mix(step.key, 0x636f756e74), place, index, &parent.stop);  // "count"
  return step.flat_map->count(Sample(parent), context);
}

bool Chain::read(ChainRun& parent, StreamModel& stream) const {
  const Step& step = steps_[0];
  parent.at = &step.label;
  begin(parent, step, {});
  SampleBuilder out(parent);
  if (!stream.next(out)) return false;
  for (std::size_t slot = 0; slot < step.fields; ++slot) {
    if (parent.cells[slot].data == nullptr) parent.missing(slot);
    parent.own(slot);
  }
  check_size(parent, step);
  parent.totals.copied_bytes.add(std::exchange(parent.copied_bytes, 0));
  return true;
}

// A sample that fails is counted as far as it came: it cost what it cost.
bool Chain::run_measured(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                         std::span<std::byte* const> rows, std::uint64_t stands_for) const {
  // A sample of a few microseconds can't have waited for anything, and asking would cost as much as making it.
  const bool may_block = run.sample_ns == 0 || run.sample_ns > 5000;
  std::optional<WaitWatch> watch;
  if (may_block) watch.emplace(run.sample_ns == 0 || run.sample_ns > 20000);
  Clocks before = read_clocks();
  const Clocks begun = before;
  const auto count = [&](std::size_t i) {
    const Clocks after = read_clocks();
    const std::uint64_t cpu_ns = after.cpu_ns - before.cpu_ns, wall_ns = after.wall_ns - before.wall_ns;
    run.counters[i].cpu_ns.add(stands_for * cpu_ns);
    if (watch && wall_ns > cpu_ns) run.counters[i].wait_ns.add(stands_for * watch->waited(wall_ns - cpu_ns));
    before = may_block ? read_clocks() : after;
  };
  const auto count_all = [&] {
    run.sample_ns = before.wall_ns - begun.wall_ns;
    run.totals.wall_ns.add(stands_for * run.sample_ns);
    run.totals.measured.add(1);
    run.totals.stood_for.add(stands_for);
    run.totals.scratch_bytes.set(run.arena.peak());
    run.delay.tick(before.wall_ns);
  };
  std::size_t i = first;
  bool kept = true;
  if (first == last && !rows.empty()) finish(run, rows);  // a child that is its parent
  try {
    for (; i < last && kept; ++i) {
      run.at = &steps_[i].label;
      const ProfiledRange range(steps_[i].label);
      begin(run, steps_[i], rows);
      kept = execute(run, i, place, index, rows);
      if (kept && i + 1 == last && !rows.empty()) finish(run, rows);
      count(i);
      std::uint64_t bytes = 0;
      for (std::size_t slot = 0; slot < run.cells.size(); ++slot) {
        const bool gives_all =
            steps_[i].kind == Step::Kind::read || (steps_[i].kind == Step::Kind::cache && i == first);
        const bool made = gives_all || slot == steps_[i].out_slot;
        if (made) bytes += run.cells[slot].shape.elements() * size_of(steps_[i].schema[slot].dtype);
      }
      run.counters[i].bytes.add(stands_for * bytes);
    }
  } catch (...) {
    count(i);
    count_all();
    throw;
  }
  count_all();
  return kept;
}

Error Chain::describe_failure(const ChainRun& run, std::uint64_t index) const {
  Error error = current_error();
  error.with_stage(run.at != nullptr ? *run.at : read_label);
  try {
    data_->source->describe(index, error);
  } catch (...) {  // a source that can't even name the key, or itself, has nothing to add
  }
  return error.with_index(index);
}

}  // namespace penstock::detail
