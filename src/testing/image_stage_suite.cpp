// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/testing/image_stage.hpp>

#include "at_once.hpp"
#include "findings.hpp"
#include "record.hpp"
#include "stage_samples.hpp"

namespace penstock::testing {

namespace {

using penstock::detail::ImageStageModel;
using penstock::detail::ImageStageOf;
using penstock::detail::make_image_stage;

struct Nothing {};

// Stages to put before and after the tested stage. Each takes images of any size.
struct CutEdges {
  static Nothing draw(const ImageShape&, Rng&) { return {}; }
  static void compose(Nothing, const ImageShape& shape, ImageOp& op) {
    const std::int32_t top = shape.height > 4 ? 1 : 0, left = shape.width > 4 ? 2 : 0;
    op.crop({top, left, shape.height - 2 * top, shape.width - left});
  }
  static Shape schema(const Shape& in) { return {dynamic, dynamic, in[2]}; }
  static std::string name() { return "neighbour_cut"; }
};
struct Mirror {
  static Nothing draw(const ImageShape&, Rng&) { return {}; }
  static void compose(Nothing, const ImageShape&, ImageOp& op) { op.flip_horizontal(); }
  static std::string name() { return "neighbour_mirror"; }
};
struct Turn {
  static Nothing draw(const ImageShape&, Rng&) { return {}; }
  static void compose(Nothing, const ImageShape&, ImageOp& op) { op.rot90(1); }
  static Shape schema(const Shape& in) { return {in[1], in[0], in[2]}; }
  static std::string name() { return "neighbour_turn"; }
};
struct Shrink {
  static Nothing draw(const ImageShape&, Rng&) { return {}; }
  static void compose(Nothing, const ImageShape& shape, ImageOp& op) {
    op.resize({std::max(shape.height * 4 / 5, 1), std::max(shape.width * 5 / 6, 1)});
  }
  static Shape schema(const Shape& in) { return {dynamic, dynamic, in[2]}; }
  static std::string name() { return "neighbour_shrink"; }
};

template <class S>
std::shared_ptr<const ImageStageModel> model_of(S stage) {
  return std::make_shared<ImageStageOf<S>>(stage);
}

struct Neighbour {
  std::string name;
  std::shared_ptr<const ImageStageModel> model;  // null: no stage
};

// A source of images, each with a mask of the image's size. All images have the same number of channels.
class Images {
 public:
  explicit Images(std::vector<ImageShape> shapes) : shapes_(std::move(shapes)) {}
  std::uint64_t size() const { return shapes_.size(); }
  Schema schema() const {
    return {{"image", DType::u8, {dynamic, dynamic, shapes_[0].channels}}, {"mask", DType::u8, {dynamic, dynamic, 1}}};
  }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const ImageShape& shape = shapes_[i];
    Rng noise(i, 0, Place{});
    for (std::uint8_t& value : out.emplace<std::uint8_t, 3>(0, {shape.height, shape.width, shape.channels}))
      value = static_cast<std::uint8_t>(noise());
    for (std::uint8_t& value : out.emplace<std::uint8_t, 3>(1, {shape.height, shape.width, 1}))
      value = static_cast<std::uint8_t>(noise() % 9);
  }

 private:
  std::vector<ImageShape> shapes_;
};

// Compares all members that executors read.
bool same(const ImageOp& a, const ImageOp& b) {
  return a.source == b.source && a.box == b.box && a.mirror_x == b.mirror_x && a.mirror_y == b.mirror_y &&
         a.resized == b.resized && a.filter == b.filter && a.kept == b.kept && a.margin == b.margin &&
         a.transpose == b.transpose && a.flip_x == b.flip_x && a.flip_y == b.flip_y && a.converted == b.converted &&
         a.dtype == b.dtype && a.layout == b.layout && a.scale == b.scale && a.bias == b.bias &&
         a.refused() == b.refused();
}

std::string text(const ImageShape& shape) {
  return "an image of " + std::to_string(shape.height) + "x" + std::to_string(shape.width) + "x" +
         std::to_string(shape.channels);
}

class ImageStageSuite {
 public:
  ImageStageSuite(const detail::MakeImageStage& make, const ImageExecutor& executor, const ImageStageOptions& options)
      : make_(make), executor_(executor), options_(options), stage_(make()) {}

  Report run() {
    const bool named = findings_.runs("name, describe and version throw nothing", "one of them", [&] {
      const std::string name = stage_->name();
      findings_.check(!name.empty() && name.find('\n') == std::string::npos && name == stage_->name(),
                      "a name is one line, and always the same", [&] { return "it is \"" + name + "\""; });
      const auto alike = make_();
      findings_.check(
          alike->name() == name && alike->describe() == stage_->describe() && alike->version() == stage_->version(),
          "a stage made alike says the same of itself",
          [] { return "name, describe or version differ, and with them the fingerprint"; });
    });
    if (!named) return findings_.report();
    std::map<std::int32_t, std::vector<ImageShape>> by_channels;
    for (const ImageShape& shape : options_.images) by_channels[shape.channels].push_back(shape);
    for (const auto& [channels, shapes] : by_channels) {
      for (const ImageShape& shape : shapes) draw_and_compose(shape);
      fold(channels, shapes);
    }
    return findings_.report();
  }

 private:
  using Params = std::byte[ImageStageModel::max_params];

  static ImageOp composed(const ImageStageModel& stage, const ImageShape& shape, std::uint64_t epoch,
                          std::byte content) {
    alignas(std::max_align_t) Params drawn, moved;
    std::memset(drawn, std::to_integer<int>(content), sizeof drawn);
    Rng rng(3, 17, Place{epoch, static_cast<std::uint64_t>(shape.height), 0, 0});
    stage.draw(shape, rng, drawn);
    std::memcpy(moved, drawn, sizeof drawn);  // the engine too passes parameters as plain bytes
    std::memset(drawn, 0xee, sizeof drawn);
    ImageOp op(shape);
    stage.compose(moved, shape, op);
    return op;
  }

  // Composes the stage's operation. Returns nothing if the stage throws. A throw is a finding, except if the
  // options allow bad images, and the error concerns only this image or is `invalid_argument`.
  std::optional<ImageOp> try_compose(const ImageStageModel& stage, const ImageShape& shape, std::uint64_t epoch,
                                     std::byte content) {
    try {
      return composed(stage, shape, epoch, content);
    } catch (const Error& error) {
      const bool of_the_image = error.sample_scoped() || error.code() == Errc::invalid_argument;
      findings_.check(options_.allow_bad_images && of_the_image, "a stage takes every image",
                      [&] { return text(shape) + ": " + error.what(); });
    } catch (const std::exception& error) {
      findings_.add("a stage takes every image", text(shape) + ": " + error.what());
    }
    return std::nullopt;
  }

  void draw_and_compose(const ImageShape& shape) {
    const auto alike = make_();
    std::vector<std::optional<ImageOp>> ops;
    for (std::uint64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      ops.push_back(try_compose(*stage_, shape, epoch, std::byte{0x00}));
      if (!ops.back()) continue;
      const ImageOp& op = *ops.back();
      if (!findings_.check(!op.refused(), "what a stage asks for is one image operation",
                           [&] { return text(shape) + ": the operation refused it; make it two stages"; }))
        continue;
      as_schema_says(shape, op);
    }
    const auto compare = [&](const ImageStageModel& stage, std::string_view contract) {
      for (std::uint64_t epoch = options_.epochs; epoch-- > 0;) {
        const std::optional<ImageOp>& first = ops[static_cast<std::size_t>(epoch)];
        const std::optional<ImageOp> again = try_compose(stage, shape, epoch, std::byte{0xff});
        findings_.check(first.has_value() == again.has_value() && (!first || same(*first, *again)), contract, [&] {
          return text(shape) + ": once " + (first ? first->to_string() : "it failed") + ", then " +
                 (again ? again->to_string() : "it failed");
        });
      }
    };
    compare(*stage_, "parameters and operation follow from shape and Rng alone");
    compare(*alike, "a stage made alike is the same");
    at_once(std::max(options_.threads, 1u),
            [&](unsigned) { compare(*stage_, "a stage draws and composes the same on any thread"); });
  }

  // Checks the operation against the results of `schema` for images of this size, and for images of any size.
  void as_schema_says(const ImageShape& shape, const ImageOp& op) {
    for (const Shape& in : {Shape{shape.height, shape.width, shape.channels}, Shape{dynamic, dynamic, shape.channels}})
      findings_.runs("schema takes images", text(shape), [&] {
        DType dtype = DType::u8;
        const Shape out = stage_->schema(in, dtype);
        const DType made = op.converted ? op.dtype : DType::u8;
        findings_.check(out.admits(op.tensor_shape()), "schema says the size that comes out", [&] {
          return text(shape) + " becomes " + op.tensor_shape().to_string() + "; of " + in.to_string() +
                 " the schema says " + out.to_string();
        });
        findings_.check(dtype == made, "schema says the dtype that comes out", [&] {
          return text(shape) + " becomes " + std::string(to_string(made)) + "; the schema says " +
                 std::string(to_string(dtype));
        });
        converts_ = converts_ || op.converted;
      });
  }

  Stage stage_on(const ImageFields& fields, const std::shared_ptr<const ImageStageModel>& model) const {
    return make_image_stage(fields, model, executor_);
  }

  void fold(std::int32_t channels, const std::vector<ImageShape>& shapes) {
    const std::vector<Neighbour> neighbours{{"nothing", nullptr},
                                            {"a crop", model_of(CutEdges{})},
                                            {"a flip", model_of(Mirror{})},
                                            {"a turn", model_of(Turn{})},
                                            {"a resize", model_of(Shrink{})}};
    std::uint64_t made = 0;
    for (const Neighbour& before : neighbours)
      for (const Neighbour& after : neighbours) {
        if (converts_ && after.model != nullptr) continue;  // no image stage may follow a stage that converts
        for (const bool with_mask : {false, true}) {
          if (with_mask && converts_) continue;
          const std::string where = "between " + before.name + " and " + after.name;
          findings_.runs("the stage joins a pipeline over images", where, [&] {
            const ImageFields fields = with_mask ? ImageFields{"image", "mask"} : ImageFields("image");
            Pipeline folded = from(Images(shapes));
            if (before.model != nullptr) folded = folded | stage_on(fields, before.model);
            folded = folded | stage_on(fields, stage_);
            if (after.model != nullptr) folded = folded | stage_on(fields, after.model);
            const Pipeline alone = folded | check({.fold = false});
            for (std::uint64_t epoch = 0; epoch < options_.epochs; ++epoch)
              for (std::uint64_t i = 0; i < shapes.size(); ++i)
                made += compare(folded, alone, text(shapes[i]) + " " + where, i, epoch) ? 1 : 0;
          });
        }
      }
    findings_.check(made > 0, "a stage takes images",
                    [&] { return "none of those with " + std::to_string(channels) + " channels could be made"; });
  }

  // Compares a folded sample with a sample that was made stage by stage. Returns whether the latter could be made.
  bool compare(const Pipeline& folded, const Pipeline& alone, const std::string& who, std::uint64_t position,
               std::uint64_t epoch) {
    const Record a = sample_of(alone, findings_, who, position, epoch);
    const Record b = sample_of(folded, findings_, who, position, epoch);
    const std::string differs = difference(folded.schema(), a, b);
    findings_.check(differs.empty(), "folded with its neighbours a stage gives the bits it gives alone",
                    [&] { return who + ": " + differs; });
    findings_.check(!a.failure || (options_.allow_bad_images && a.sample_scoped), "a stage takes every image",
                    [&] { return who + ": " + a.said; });
    return !a.failure;
  }

  const detail::MakeImageStage& make_;
  const ImageExecutor& executor_;
  const ImageStageOptions& options_;
  std::shared_ptr<const ImageStageModel> stage_;
  Findings findings_;
  bool converts_ = false;
};

}  // namespace

Report detail::check_image_stage(const MakeImageStage& make, const ImageExecutor& executor,
                                 const ImageStageOptions& options) {
  return ImageStageSuite(make, executor, options).run();
}

}  // namespace penstock::testing
