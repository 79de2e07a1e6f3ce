// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>

#include "chain/chain.hpp"
#include "chain/chain_run.hpp"
#include "chain/image_step.hpp"
#include "data/file_pieces.hpp"
#include "image/copy_rows.hpp"
#include "image/encoders.hpp"
#include "pipeline/ask_stage.hpp"

namespace penstock::detail::runtime {

namespace {

// One image while an image step works on it. The image is still encoded, or it is pixels.
class Fold {
 public:
  Fold(ChainRun& run, const ImageStep& step, std::size_t number, const CheckOptions& check)
      : run_(run), step_(step), check_(check) {
    const Cell& cell = run.cells[step.slot];
    ImageShape shape;
    if (ImageDecoding* const decoding = run.images.decoders[number].get(); decoding != nullptr) {
      run.at = &step.decoder_label;
      const std::byte* const data = run.value(step.slot);
      shape = decoding->open({data, static_cast<std::size_t>(cell.shape[0])});
      if (const char* const remark = decoding->remark()) run.counters.steps[number].remarks.add(remark, 1);
      if (step.turn) share_turn(*decoding, shape);
      encoded_ = decoding;
      if (step.decoder->reduces()) reducing_ = decoding;
      made_of_ = {.image = decoding, .shape = shape, .stage = &step.decoder_label};
    } else {
      shape = shape_of(cell.shape, step.element);
      promise_ = cell.promise;
      if (promise_ != nullptr) made_of_ = *promise_;
      if (cell.data == nullptr && promise_ != nullptr)
        encoded_ = made_of_.image;
      else
        pixels_ = whole(run.value(step.slot), shape);
    }
    untouched_ = made_of_.image != nullptr;
    check_bytes(shape, size_of(shape.element));
    op_ = ImageOp(shape);
  }

  void add(const FoldStage& stage, Rng rng) {
    refuse_converted();
    alignas(std::max_align_t) std::byte params[ImageStageModel::max_params];
    if (!check_.fold && !waits_for_resize()) flush();
    const ImageShape shape = op_.shape();
    const void* const drawn = draw(stage, shape, rng, params);
    ImageOp next = op_;
    next.filter_with(stage.filter);
    ask_stage([&] { stage.model->compose(drawn, shape, next); });
    if (next.refused()) {
      flush();
      next = op_;
      next.filter_with(stage.filter);
      ask_stage([&] { stage.model->compose(drawn, shape, next); });
      if (next.refused())
        throw Error(Errc::invalid_argument,
                    "the stage asks for two things that one image operation can't do in a row; make it two stages");
    }
    op_ = next;
    // The first resize decides, also if it changes nothing of this image.
    if (stage.model->resamples() && !op_.resamples()) reducing_ = nullptr;
    untouched_ = untouched_ && is_identity();
    check_bytes(op_.shape(), size_of(op_.result_dtype()));
  }

  // Encodes the image in its present state, or takes over the file from which the image is decoded.
  void encode(const FoldEncoding& encoding) {
    run_.at = &encoding.label;
    refuse_converted();
    require_taken(*encoding.encoder, op_.shape());
    // A file that is kept unchanged need not be decoded. With `verify` it is decoded nevertheless, so that damage in
    // the file is an error.
    if (check_.verify) settle();
    if (untouched_ && take(encoding)) {
      reducing_ = nullptr;  // as where the file is made of pixels
      return;
    }
    settle();
    FilePieces file(run_.arena, check_.max_sample_bytes);
    ask_stage([&] { encoding.encoder->encode(pixels_, file, run_.arena); });
    file.copy_to(run_.make(encoding.slot, Shape{static_cast<std::int64_t>(file.size())}));
  }

  // Makes the field's value from the image.
  void finish() {
    const DType dtype = op_.result_dtype();
    const Field& field = step_.schema[step_.slot];
    const Shape shape = op_.tensor_shape();
    if (dtype != field.dtype || !field.shape.admits(shape))
      run_.refuse(step_.slot, "image of shape " + shape.to_string(), dtype, shape.rank());
    const Promise* const made_of = untouched_ ? lasting_promise() : nullptr;
    std::byte* out = run_.make(step_.slot, shape);
    const ScratchArena::Mark mark = run_.arena.mark();
    execute(out);
    run_.arena.rewind(mark);
    run_.cells[step_.slot].promise = made_of;
    if (!op_.converted) begin_again(whole(out, op_.shape()));
  }

 private:
  // Throws Error(unsupported), which concerns only this sample, because the shape comes from the sample's record.
  static ImageShape shape_of(const Shape& shape, DType element) {
    const auto fits = [](std::int64_t side) { return side >= 1 && side <= std::numeric_limits<std::int32_t>::max(); };
    if (!fits(shape[0]) || !fits(shape[1]) || shape[2] < 1 || shape[2] > 4)
      throw Error(Errc::unsupported, "an image of shape " + shape.to_string() +
                                         " can't be worked on: 1 to 4 channels and no empty side are needed");
    return {static_cast<std::int32_t>(shape[0]), static_cast<std::int32_t>(shape[1]),
            static_cast<std::int32_t>(shape[2]), element};
  }

  static Pixels whole(const std::byte* data, const ImageShape& shape) {
    const auto row = static_cast<std::size_t>(shape.width) * shape.pixel_bytes();
    return {reinterpret_cast<const std::uint8_t*>(data), static_cast<std::ptrdiff_t>(row), shape};
  }

  void refuse_converted() const {
    if (op_.converted)
      throw Error(
          Errc::invalid_argument,
          "image stages stand before convert and normalize: what those make is no [H, W, C] image of u8 or u16");
  }

  // Returns the stage's drawn parameters. They are in `room` or, for a stage with several fields, in the shared draw.
  const void* draw(const FoldStage& stage, const ImageShape& shape, Rng& rng, std::byte* room) {
    if (stage.draw == FoldStage::Draw::own) {
      ask_stage([&] { stage.model->draw(shape, rng, room); });
      return room;
    }
    SharedDraw& shared = run_.images.shared_draws[stage.shared];
    if (stage.draw == FoldStage::Draw::lead) {
      ask_stage([&] { stage.model->draw(shape, rng, shared.params); });
      shared.shape = shape;
      shared.filter = stage.filter;
      shared.field = &stage.field;
    } else if (!(shape.size() == shared.shape.size())) {
      const auto text = [](const std::string& field, const ImageShape& s) {
        return "\"" + field + "\" is " + Shape{s.height, s.width, s.channels}.to_string();
      };
      throw Error(Errc::unsupported,
                  text(*shared.field, shared.shape) + " and " + text(stage.field, shape) +
                      ": fields of one image stage agree in height and width; resize each to one size before it");
    }
    return shared.params;
  }

  // Tells the fields that follow the decoder how it turns the stored image.
  void share_turn(const ImageDecoding& decoding, ImageShape shape) {
    const TurnParams params{decoding.orientation()};
    // Refuses the answer of a custom decoder that is no orientation.
    ImageOp op(shape);
    ask_stage([&] { op.orient(params.orientation); });
    SharedDraw& shared = run_.images.shared_draws[*step_.turn];
    std::memcpy(shared.params, &params, sizeof params);
    if (op.transpose) std::swap(shape.height, shape.width);
    shared.shape = shape;
    shared.filter = Filter::linear;
    shared.field = &step_.result.name;
  }

  void check_bytes(const ImageShape& shape, std::size_t each) const {
    const std::uint64_t pixels = std::uint64_t(shape.height) * std::uint64_t(shape.width);
    if (pixels > check_.max_sample_bytes / (std::uint64_t(shape.channels) * each))
      throw Error(Errc::limit_exceeded,
                  "an image of " + std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
                      std::to_string(shape.channels) +
                      " bytes is larger than `max_sample_bytes` = " + std::to_string(check_.max_sample_bytes));
  }

  // Whether a resize may still decide at which size the image is decoded. Until then, not even unfolded stages can be
  // executed one after the other, or their results would differ from those of folded stages.
  bool waits_for_resize() const noexcept { return encoded_ != nullptr && encoded_ == reducing_ && !op_.resamples(); }

  bool is_identity() const noexcept { return op_.plain() && op_.box.size() == op_.source.size(); }

  void begin_again(const Pixels& pixels) {
    encoded_ = nullptr;
    pixels_ = pixels;
    op_ = ImageOp(pixels.shape);
  }

  // Executes the stages folded so far. The result is the image for the following stages.
  void flush() {
    if (encoded_ == nullptr && is_identity()) return;
    const std::string* const at = run_.at;  // restored below, for errors of the stage that needs the pixels
    if (op_.plain()) {
      begin_again(needed_pixels(nullptr));
    } else {
      const ImageShape shape = op_.shape();
      auto* out = run_.arena.allocate(static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width) *
                                      shape.pixel_bytes());
      execute(out);
      begin_again(whole(out, shape));
    }
    run_.at = at;
  }

  // Executes all stages so far and turns the image into pixels.
  void settle() {
    if (step_.makes_value()) return flush();
    // No stage changes the image, so the field's value has the same pixels.
    if (encoded_ != nullptr) begin_again(whole(run_.value(step_.slot), op_.source));
  }

  bool take(const FoldEncoding& encoding) {
    begin_decoding();
    const std::span<const std::byte> file = encoding.encoder->take(*made_of_.image, run_.arena);
    run_.decoding.reset();
    run_.at = &encoding.label;
    if (file.empty()) return false;
    run_.require_size(encoding.slot, file.size());
    SampleBuilder(run_).view(encoding.slot, file);
    return true;
  }

  // Returns a promise that lives until the sample is made, for the steps after this step.
  const Promise* lasting_promise() {
    return promise_ != nullptr ? promise_ : ::new (run_.arena.allocate(sizeof(Promise))) Promise(made_of_);
  }

  // Sets what errors of the decoding name. If the image is promised, they name the reading and the source's field.
  // Otherwise they name the decoder's stage.
  void begin_decoding() {
    const bool promised = made_of_.stage == nullptr;
    run_.at = promised ? &run_.chain().steps().front()->label : made_of_.stage;
    if (promised) run_.decoding = made_of_.slot;
  }

  // Returns the pixels that the operation needs. A decoder writes them to `out` if `out` is not null and the operation
  // is the identity.
  Pixels needed_pixels(std::byte* out) {
    if (encoded_ == nullptr) {
      const auto pixel = static_cast<std::ptrdiff_t>(pixels_.shape.pixel_bytes());
      return {pixels_.data + op_.box.top * pixels_.stride + op_.box.left * pixel,
              pixels_.stride,
              {op_.box.height, op_.box.width, pixels_.shape.channels, pixels_.shape.element}};
    }
    begin_decoding();
    if (encoded_ == reducing_ && op_.resamples() && op_.filter == Filter::linear)
      op_.reduction = checked(reducing_->reduction(op_.box, op_.resized));
    const Pixels pixels =
        op_.reduction.by == 1
            ? encoded_->decode(op_.box, check_.verify, is_identity() ? out : nullptr, run_.arena)
            : of_reduced_box(reducing_->decode_reduced(op_.reduction, op_.needed(), check_.verify, run_.arena));
    run_.decoding.reset();
    return pixels;
  }

  // Refuses a reduction that the box's pixels would be missing from.
  Reduction checked(const Reduction& reduction) const {
    const std::int32_t by = reduction.by;
    const auto inside = [by](std::int32_t beyond) { return beyond >= 0 && beyond < by; };
    if ((by == 1 || by == 2 || by == 4 || by == 8) && inside(reduction.top) && inside(reduction.left) &&
        (by == 1 || (op_.box.height / by >= op_.resized.height && op_.box.width / by >= op_.resized.width)))
      return reduction;
    throw Error(Errc::invalid_argument, "the decoder offers an image that is reduced by " + std::to_string(by) +
                                            " from " + std::to_string(reduction.top) + "+" +
                                            std::to_string(reduction.left) +
                                            ", of which the resize can't be made; see "
                                            "ImageDecoding::reduction");
  }

  // Returns `pixels`, which are op_.needed(), as an executor takes them: beginning where the reduced box would begin.
  Pixels of_reduced_box(Pixels pixels) const {
    const Box box = op_.reduced_box(), needed = op_.needed();
    pixels.data -= (needed.top - box.top) * pixels.stride +
                   (needed.left - box.left) * static_cast<std::ptrdiff_t>(pixels.shape.pixel_bytes());
    pixels.shape.height = box.height, pixels.shape.width = box.width;
    return pixels;
  }

  void execute(std::byte* out) {
    const Pixels box = needed_pixels(out);
    run_.at = &step_.label;
    if (!op_.plain()) {
      step_.executor->run(box, op_, out, run_.arena);
    } else if (reinterpret_cast<const std::byte*>(box.data) != out) {
      copy_rows(box, out);
    }
  }

  ChainRun& run_;
  const ImageStep& step_;
  const CheckOptions& check_;
  EncodedImage* encoded_ = nullptr;    // null if the image is pixels
  ImageDecoding* reducing_ = nullptr;  // the image's decoding, if it may decode a reduced image; else null
  Promise made_of_;                   // what the image is decoded from; its `image` is null if there is no encoded form
  const Promise* promise_ = nullptr;  // the promise in the cell, or null
  bool untouched_ = false;            // no stage changed the image, and it has an encoded form
  Pixels pixels_;
  ImageOp op_;
};

}  // namespace

// Draws, folds and executes. `run.at` is the label of the stage that is at work.
bool ImageStep::run(ChainRun& run, const StepCall& call) const {
  Fold fold(run, *this, call.number, call.check);
  auto encoding = encodings.begin();
  const auto encode_after = [&](std::size_t done) {
    for (; encoding != encodings.end() && encoding->stages == done; ++encoding) fold.encode(*encoding);
    run.at = &label;
  };
  for (std::size_t i = 0; i < stages.size(); ++i) {
    encode_after(i);
    run.at = &stages[i].label;
    fold.add(stages[i], Rng(call.seed, stages[i].key, call.place));
    run.at = &label;
  }
  // The field's value is made first, because encoders after all stages read it.
  if (makes_value() && !encoded()) fold.finish();
  encode_after(stages.size());
  return true;
}

}  // namespace penstock::detail::runtime
