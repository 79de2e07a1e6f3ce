// SPDX-License-Identifier: Apache-2.0
// Image stages that break one promise each, and what the suite says of them. Executed by an executor of the tests' own,
// which resamples by nearest.
#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/testing/image_stage.hpp>

#include "findings.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;

namespace {

// Follows the normal form word by word.
class Executor final : public ps::ImageExecutor {
 public:
  void run(const ps::Pixels& pixels, const ps::ImageOp& op, std::byte* out, ps::Scratch&) const override {
    const int channels = pixels.shape.channels;
    const auto source = [](int at, int in, int size) { return static_cast<int>((2LL * at + 1) * in / (2LL * size)); };
    const int height = op.kept.height, width = op.kept.width;
    const int out_height = op.transpose ? width : height, out_width = op.transpose ? height : width;
    for (int y = 0; y < out_height; ++y)
      for (int x = 0; x < out_width; ++x) {
        int v = op.flip_y ? out_height - 1 - y : y, h = op.flip_x ? out_width - 1 - x : x;
        if (op.transpose) std::swap(v, h);
        int from_y = source(op.kept.top + v, op.box.height, op.resized.height);
        int from_x = source(op.kept.left + h, op.box.width, op.resized.width);
        if (!op.resamples()) from_y = v, from_x = h;
        if (op.mirror_y) from_y = op.box.height - 1 - from_y;
        if (op.mirror_x) from_x = op.box.width - 1 - from_x;
        for (int c = 0; c < channels; ++c) {
          const std::uint8_t value = pixels.data[from_y * pixels.stride + from_x * channels + c];
          const std::size_t at = op.layout == ps::Layout::hwc
                                     ? (static_cast<std::size_t>(y) * out_width + x) * channels + c
                                     : (static_cast<std::size_t>(c) * out_height + y) * out_width + x;
          if (op.converted && op.dtype == ps::DType::f32)
            reinterpret_cast<float*>(out)[at] = static_cast<float>(value) * op.scale[c] + op.bias[c];
          else
            out[at] = static_cast<std::byte>(value);
        }
      }
  }
};
const Executor executor;

template <class S>
ps::testing::Report report_on(const ps::testing::ImageStageOptions& options = {}) {
  return ps::testing::check_image_stage([] { return S{}; }, executor, options);
}

struct RightCrop {
  struct Params {
    std::int32_t top, left;
  };
  Params draw(const ps::ImageShape& shape, ps::Rng& rng) const {
    return {static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(shape.height - 20))),
            static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(shape.width - 30)))};
  }
  void compose(const Params& params, const ps::ImageShape&, ps::ImageOp& op) const {
    op.crop({params.top, params.left, 20, 30});
  }
  ps::Shape schema(const ps::Shape& in) const { return {20, 30, in[2]}; }
  std::string name() const { return "right"; }
};

struct None {};
std::atomic<int> made{0};

}  // namespace

TEST_CASE("an image stage that is right passes") {
  const auto report = report_on<RightCrop>();
  CHECK(report.text() == "");
  CHECK(report.passed());
  struct Shrink {
    None draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
    void compose(None, const ps::ImageShape&, ps::ImageOp& op) const {
      op.resize({33, 17});
      op.flip_vertical();
    }
    ps::Shape schema(const ps::Shape& in) const { return {33, 17, in[2]}; }
  };
  CHECK(report_on<Shrink>().text() == "");
  struct Finish {
    None draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
    void compose(None, const ps::ImageShape&, ps::ImageOp& op) const {
      op.convert(ps::DType::f32, ps::Layout::chw, {2, 2, 2, 2}, {1, 1, 1, 1});
    }
    ps::Shape schema(const ps::Shape& in, ps::DType& dtype) const {
      dtype = ps::DType::f32;
      return {in[2], in[0], in[1]};
    }
  };
  CHECK(report_on<Finish>().text() == "");
}

TEST_CASE("draws that don't follow from shape and Rng are found") {
  constexpr std::string_view contract = "parameters and operation follow from shape and Rng alone";
  struct Counts : RightCrop {
    Params draw(const ps::ImageShape&, ps::Rng&) const { return {++made % 20, 0}; }
  };
  CHECK(found(report_on<Counts>(), contract));
  struct Remembers : RightCrop {
    // The parameters point to themselves, which plain bytes can't.
    struct Params {
      const Params* self;
      std::int32_t top;
    };
    Params draw(const ps::ImageShape&, ps::Rng&) const { return {nullptr, ++made % 7}; }
    void compose(const Params& params, const ps::ImageShape&, ps::ImageOp& op) const {
      op.crop({params.top, 0, 20, 30});
    }
  };
  CHECK(found(report_on<Remembers>(), contract));
  struct Object : RightCrop {
    void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const { op.crop({number % 2, 0, 20, 30}); }
    int number = ++made;
  };
  CHECK(found_only(report_on<Object>(), "a stage made alike is the same"));
  struct PerThread : RightCrop {
    void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const {
      op.crop({std::this_thread::get_id() == first ? 0 : 1, 0, 20, 30});
    }
    std::thread::id first = std::this_thread::get_id();
  };
  CHECK(found_only(report_on<PerThread>(), "a stage draws and composes the same on any thread"));
}

TEST_CASE("schemas that are not what comes out are found") {
  struct Larger : RightCrop {
    ps::Shape schema(const ps::Shape& in) const { return {20, 31, in[2]}; }
  };
  CHECK(found(report_on<Larger>(), "schema says the size that comes out"));
  struct Unsaid : RightCrop {  // as the input's
    ps::Shape schema(const ps::Shape& in) const { return in; }
  };
  CHECK(found(report_on<Unsaid>(), "schema says the size that comes out"));
  struct Converts {
    None draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
    void compose(None, const ps::ImageShape&, ps::ImageOp& op) const {
      op.convert(ps::DType::f32, ps::Layout::hwc, {1, 1, 1, 1}, {0, 0, 0, 0});
    }
  };
  CHECK(found(report_on<Converts>(), "schema says the dtype that comes out"));
  struct Throws : RightCrop {
    ps::Shape schema(const ps::Shape& in) const {
      if (!in.fixed()) throw ps::Error(ps::Errc::schema_mismatch, "size unknown");
      return {20, 30, in[2]};
    }
  };
  CHECK(found(report_on<Throws>(), "schema takes images"));
  CHECK(found(report_on<Throws>(), "the stage joins a pipeline over images"));
}

TEST_CASE("stages that don't fold are found") {
  constexpr std::string_view contract = "folded with its neighbours a stage gives the bits it gives alone";
  struct Looks : RightCrop {
    // Asks what the operation holds already, which folding decides.
    void compose(const Params& params, const ps::ImageShape& shape, ps::ImageOp& op) const {
      RightCrop::compose(params, shape, op);
      if (op.source.height != shape.height || op.flip_x) op.flip_vertical();
    }
  };
  CHECK(found_only(report_on<Looks>(), contract));
  struct TwoResizes {
    None draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
    void compose(None, const ps::ImageShape&, ps::ImageOp& op) const {
      op.resize({30, 30});
      op.resize({20, 20});
    }
    ps::Shape schema(const ps::Shape& in) const { return {20, 20, in[2]}; }
  };
  CHECK(found(report_on<TwoResizes>(), "what a stage asks for is one image operation"));
}

TEST_CASE("images that a stage can't take are found, or allowed") {
  struct Large : RightCrop {
    void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const { op.crop({0, 0, 70, 30}); }
    ps::Shape schema(const ps::Shape& in) const { return {70, 30, in[2]}; }
  };
  CHECK(found(report_on<Large>(), "a stage takes every image"));
  CHECK(found(report_on<Large>({.images = {{64, 48, 3}}, .allow_bad_images = true}), "a stage takes images"));
  CHECK(report_on<Large>({.images = {{64, 48, 3}, {97, 131, 3}}, .allow_bad_images = true}).text() == "");
  struct Foreign : RightCrop {
    Params draw(const ps::ImageShape&, ps::Rng&) const { throw std::runtime_error("no"); }
  };
  CHECK(found(report_on<Foreign>(), "a stage takes every image"));
}

TEST_CASE("what an image stage says of itself and gets wrong is found") {
  struct Nameless : RightCrop {
    std::string name() const { return ""; }
  };
  CHECK(found(report_on<Nameless>(), "a name is one line, and always the same"));
  struct Options : RightCrop {
    std::string describe() const { return std::to_string(++made); }
  };
  CHECK(found_only(report_on<Options>(), "a stage made alike says the same of itself"));
  struct Unknown : RightCrop {
    std::uint64_t version() const { throw std::runtime_error("unknown"); }
  };
  CHECK(found_only(report_on<Unknown>(), "name, describe and version throw nothing"));
}

}  // namespace PENSTOCK_TEST_FILE
