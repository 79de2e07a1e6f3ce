// SPDX-License-Identifier: Apache-2.0
#include "chain/follow_step.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <penstock/error.hpp>
#include <penstock/extend/box_conversion.hpp>

#include "chain/chain_run.hpp"
#include "image/copy_rows.hpp"
#include "pipeline/ask_stage.hpp"

namespace penstock::detail::runtime {

namespace {

using Kind = ImageField::Kind;

constexpr std::size_t max_columns = 5;

void refuse_two(const ImageOp& op) {
  if (op.refused())
    throw Error(Errc::unsupported,
                "the stage asks for two things that one image operation can't do in a row; make it two stages");
}

// Returns what a stage alone does to the image that it drew for.
ImageOp op_of(const FoldStage& stage, const SharedDraw& shared) {
  ImageOp op(shared.shape);
  op.filter_with(shared.filter);
  ask_stage([&] { stage.model->compose(shared.params, shared.shape, op); });
  refuse_two(op);
  return op;
}

// The part of an operation's result that shows the image.
struct ShownPart {
  explicit ShownPart(const ImageOp& op)
      : left(op.shown().left), top(op.shown().top), right(left + op.shown().width), bottom(top + op.shown().height) {}
  bool has(double x, double y) const { return x >= left && x <= right && y >= top && y <= bottom; }
  double left, top, right, bottom;
};

void move_point(const ImageOp& op, const ShownPart& shown, float* point, std::size_t columns) {
  const ImagePoint at = op.moved({static_cast<double>(point[0]), static_cast<double>(point[1])});
  point[0] = static_cast<float>(at.x), point[1] = static_cast<float>(at.y);
  if (columns > 2 && !shown.has(at.x, at.y)) point[2] = 0;
}

// Moves x0, y0, x1, y1, and the visible share.
void move_box(const ImageOp& op, const ShownPart& shown, float* box, std::size_t columns) {
  const ImagePoint a = op.moved({static_cast<double>(box[0]), static_cast<double>(box[1])}),
                   b = op.moved({static_cast<double>(box[2]), static_cast<double>(box[3])});
  // A NaN stays where it is.
  const double x0 = b.x < a.x ? b.x : a.x, x1 = b.x < a.x ? a.x : b.x, y0 = b.y < a.y ? b.y : a.y,
               y1 = b.y < a.y ? a.y : b.y;
  const double left = std::clamp(x0, shown.left, shown.right), right = std::clamp(x1, shown.left, shown.right),
               top = std::clamp(y0, shown.top, shown.bottom), bottom = std::clamp(y1, shown.top, shown.bottom);
  box[0] = static_cast<float>(left), box[1] = static_cast<float>(top);
  box[2] = static_cast<float>(right), box[3] = static_cast<float>(bottom);
  if (columns < max_columns) return;
  const double area = (x1 - x0) * (y1 - y0);
  if (area > 0)
    box[4] = static_cast<float>(static_cast<double>(box[4]) * ((right - left) * (bottom - top) / area));
  else if (left != x0 || top != y0 || right != x1 || bottom != y1)
    box[4] = 0;
}

// Returns whether left and right are exchanged in the result, apart from turns.
bool mirrors(const ImageOp& op) { return (op.mirror_x != op.mirror_y) != ((op.flip_x != op.flip_y) != op.transpose); }

// Exchanges the rows of each pair in each instance of `points` rows.
void exchange(const std::vector<MirroredPair>& pairs, float* rows, std::size_t count, std::size_t points) {
  for (std::size_t instance = 0; instance + points <= count; instance += points)
    for (const auto& [first, second] : pairs) {
      float* const begin = rows + (instance + first) * max_columns;
      std::swap_ranges(begin, begin + max_columns, rows + (instance + second) * max_columns);
    }
}

// Returns how many numbers a row has.
std::size_t columns_of(const Shape& shape) { return static_cast<std::size_t>(shape[shape.rank() - 1]); }

}  // namespace

void FollowStep::move_rows(ChainRun& run) const {
  const Shape before = run.cells[slot].shape;
  const std::size_t columns_before = columns_of(before), columns = columns_of(result.shape),
                    rows = before.elements() / columns_before;
  Shape after = before;
  after[after.rank() - 1] = static_cast<std::int64_t>(columns);
  const std::byte* const values = run.value(slot);
  std::byte* const to = run.make(slot, after);
  const ScratchArena::Mark mark = run.arena.mark();
  auto* const numbers = reinterpret_cast<float*>(run.arena.allocate(rows * max_columns * sizeof(float)));
  for (std::size_t i = 0; i < rows; ++i)
    std::memcpy(numbers + i * max_columns, values + i * columns_before * sizeof(float), columns_before * sizeof(float));
  for (const FoldStage& stage : stages) {
    run.at = &stage.label;
    const ImageOp op = op_of(stage, run.images.shared_draws[stage.shared]);
    const ShownPart shown(op);
    const BoxConversion* const conversion = stage.model->box_conversion();
    for (float* row = numbers; row != numbers + rows * max_columns; row += max_columns)
      if (conversion != nullptr)
        convert_box(*conversion, op.source.size(), row);
      else if (kind_ == Kind::points)
        move_point(op, shown, row, columns_before);
      else
        move_box(op, shown, row, columns_before);
    if (!stage.mirrored.empty() && mirrors(op))
      exchange(stage.mirrored, numbers, rows, static_cast<std::size_t>(before[before.rank() - 2]));
  }
  run.at = &label;
  for (std::size_t i = 0; i < rows; ++i)
    std::memcpy(to + i * columns * sizeof(float), numbers + i * max_columns, columns * sizeof(float));
  run.arena.rewind(mark);
}

void FollowStep::note_crop(ChainRun& run) const {
  const FoldStage& stage = stages.front();
  run.at = &stage.label;
  const auto [first, last] = op_of(stage, run.images.shared_draws[stage.shared]).seen();
  const float box[] = {static_cast<float>(first.x), static_cast<float>(first.y), static_cast<float>(last.x),
                       static_cast<float>(last.y)};
  run.at = &label;
  std::memcpy(run.make(slot, Shape{4}), box, sizeof box);
}

// Returns the operations that make each mask of the result, one after the other. An image of labels would have the same
// ones.
std::vector<ImageOp>& FollowStep::mask_ops(ChainRun& run, const ImageShape& shape, bool fold) const {
  std::vector<ImageOp>& ops = run.images.follow_ops;
  ops.clear();
  ops.emplace_back(shape);
  for (const FoldStage& stage : stages) {
    run.at = &stage.label;
    const SharedDraw& shared = run.images.shared_draws[stage.shared];
    if (const Size now = ops.back().shape().size(); !(now == shared.shape.size()))
      throw Error(Errc::unsupported,
                  "\"" + *shared.field + "\" is " +
                      Shape{shared.shape.height, shared.shape.width, shared.shape.channels}.to_string() +
                      ", and the masks of \"" + stage.field + "\" are " + Shape{now.height, now.width}.to_string() +
                      ": fields of one image stage agree in height and width");
    const auto compose = [&](ImageOp op) {
      op.filter_with(Filter::nearest);
      ask_stage([&] { stage.model->compose(shared.params, shared.shape, op); });
      return op;
    };
    ImageOp next = fold ? compose(ops.back()) : ImageOp();
    if (!fold || next.refused()) {
      ops.emplace_back(ops.back().shape());
      next = compose(ops.back());
    }
    refuse_two(next);
    ops.back() = next;
  }
  return ops;
}

void FollowStep::make_masks(ChainRun& run, bool fold) const {
  const Shape before = run.cells[slot].shape;
  const std::byte* const values = run.value(slot);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (before[1] < 1 || before[2] < 1 || before[1] > most || before[2] > most)
    throw Error(Errc::unsupported, "masks of shape " + before.to_string() + " have no pixels, or too many");
  const ImageShape shape{static_cast<std::int32_t>(before[1]), static_cast<std::int32_t>(before[2]), 1, result.dtype};
  const std::vector<ImageOp>& ops = mask_ops(run, shape, fold);
  run.at = &label;
  const Size size = ops.back().shape().size();
  const auto bytes = [](Size of, std::size_t each) {
    return static_cast<std::size_t>(of.height) * static_cast<std::size_t>(of.width) * each;
  };
  const std::size_t each = size_of(result.dtype);
  std::byte* const to = run.make(slot, Shape{before[0], size.height, size.width});
  for (std::size_t mask = 0; mask < static_cast<std::size_t>(before[0]); ++mask) {
    const ScratchArena::Mark mark = run.arena.mark();
    const std::byte* pixels = values + mask * bytes(shape.size(), each);
    for (const ImageOp& op : ops) {
      const bool last = &op == &ops.back();
      std::byte* const out = last ? to + mask * bytes(size, each) : run.arena.allocate(bytes(op.shape().size(), each));
      const auto row = static_cast<std::ptrdiff_t>(op.source.width) * static_cast<std::ptrdiff_t>(each);
      const Pixels box{reinterpret_cast<const std::uint8_t*>(pixels) + op.box.top * row +
                           op.box.left * static_cast<std::ptrdiff_t>(each),
                       row,
                       {op.box.height, op.box.width, 1, result.dtype}};
      if (op.plain())
        copy_rows(box, out);
      else
        executor->run(box, op, out, run.arena);
      pixels = out;
    }
    run.arena.rewind(mark);
  }
}

bool FollowStep::run(ChainRun& run, const StepCall& call) const {
  switch (kind_) {
    case Kind::instance_masks:
      make_masks(run, call.check.fold);
      break;
    case Kind::crop_box:
      note_crop(run);
      break;
    default:
      move_rows(run);
  }
  return true;
}

std::string FollowStep::describe(const CheckOptions&) const {
  return label + (kind_ == Kind::crop_box ? ": the part of the image that the result shows" : ": follows its image") +
         " -> " + result.name + ": " + std::string(to_string(result.dtype)) + result.shape.to_string();
}

}  // namespace penstock::detail::runtime
