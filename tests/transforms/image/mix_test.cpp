// SPDX-License-Identifier: Apache-2.0
// mixup and cutmix: against sums written out here, on the host and on emulated GPUs.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include <penstock/error.hpp>
#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "image/beta.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/image/both_sides.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr std::int64_t high = 5, wide = 9, classes = 7;

// Images all of whose elements are the record's number, and labels of which one is 1.
struct Records {
  DType dtype = DType::f32;
  std::uint64_t count = 23;
  bool chw = false;
  std::set<std::uint64_t> bad = {};
  std::uint64_t size() const { return count; }
  Shape shape() const { return chw ? Shape{3, high, wide} : Shape{high, wide, 3}; }
  Schema schema() const {
    return {{"image", dtype, shape()}, {"label", dtype == DType::u8 ? DType::f32 : dtype, {classes}}};
  }
  static void put(TensorView to, std::uint64_t i, double value) {
    if (to.dtype == DType::u8) to.data[i] = static_cast<std::byte>(value);
    const auto number = static_cast<float>(value);
    const std::uint16_t half = to.dtype == DType::f16 ? to_half(number) : to_bfloat16(number);
    if (to.dtype == DType::f32) std::memcpy(to.data + 4 * i, &number, 4);
    if (to.dtype == DType::f16 || to.dtype == DType::bf16) std::memcpy(to.data + 2 * i, &half, 2);
  }
  void read(std::uint64_t record, SampleBuilder& out) const {
    if (bad.contains(record)) throw Error(Errc::corrupt, "planted");
    const TensorView image = out.emplace(0, shape());
    for (std::uint64_t i = 0; i < image.shape.elements(); ++i) put(image, i, static_cast<double>(record + 1));
    const TensorView label = out.emplace(1, {classes});
    for (std::uint64_t i = 0; i < classes; ++i) put(label, i, i == record % classes ? 1 : 0);
  }
};

float at(const TensorView& of, std::uint64_t i) {
  float number = 0;
  std::uint16_t half = 0;
  if (of.dtype == DType::u8) return static_cast<float>(of.data[i]);
  if (of.dtype == DType::f32) return std::memcpy(&number, of.data + 4 * i, 4), number;
  std::memcpy(&half, of.data + 2 * i, 2);
  return of.dtype == DType::f16 ? from_half(half) : from_bfloat16(half);
}

float rounded(float value, DType dtype) {
  return dtype == DType::f16    ? from_half(to_half(value))
         : dtype == DType::bf16 ? from_bfloat16(to_bfloat16(value))
                                : value;
}

std::string cause(const std::function<void()>& f) { return error_of(f).cause(); }

}  // namespace

TEST_CASE("mixup mixes each pair of neighbours by one share, and leaves who has no neighbour") {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Records records{.dtype = dtype, .count = 60, .bad = {1, 4, 8, 11, 16, 20, 31, 47}};
    const Pipeline samples = from(records) | shuffle({.seed = 3}) | on_error({.policy = OnError::mask});
    for (const Tail tail : {Tail::keep, Tail::pad}) {
      const Pipeline p = samples | batch(7, {.tail = tail}) | mixup({.alpha = 1});
      Loader loader(p, {.threads = 2});
      std::set<float> shares;
      std::uint64_t left = 0;
      for (const Batch& batch : loader.epoch()) {
        const TensorView image = batch["image"], label = batch["label"];
        const std::uint64_t each = image.shape.elements() / batch.size();
        for (std::uint64_t r = 0; r < batch.size(); ++r) {
          const std::uint64_t other = r ^ 1;
          const auto own = static_cast<float>(batch.indices()[r] + 1);
          const bool mixes = batch.mask()[r] != 0 && other < batch.size() && batch.mask()[other] != 0;
          if (!mixes) {
            ++left;
            for (std::uint64_t i = 0; i < each; ++i)
              REQUIRE(at(image, r * each + i) == (batch.mask()[r] != 0 ? own : 0));
            continue;
          }
          // The share is seen in the label: the row's own class has it, unless both are of one class.
          const std::uint64_t of_row = batch.indices()[r] % classes, of_other = batch.indices()[other] % classes;
          if (of_row == of_other) continue;
          const float share = at(label, r * classes + of_row);
          CHECK(at(label, other * classes + of_other) == share);
          shares.insert(share);
          if (dtype != DType::f32) continue;
          const auto neighbour = static_cast<float>(batch.indices()[other] + 1);
          const float rest = 1 - share;
          CHECK(at(label, r * classes + of_other) == rest);
          for (std::uint64_t i = 0; i < each; ++i) REQUIRE(at(image, r * each + i) == share * own + rest * neighbour);
        }
      }
      CHECK(shares.size() >= 10);  // each pair draws
      CHECK(left >= 4);
    }
  }
}

TEST_CASE("mixup draws a pair's share from Beta(alpha, alpha), at the place of its first row") {
  // A stage of the same name before batch draws the same for each sample.
  struct Draws {
    Schema schema(const Schema& in) const { return in.with({"drawn", DType::f32, {}}); }
    std::string name() const { return "mixup"; }
    void operator()(Sample& sample, Context& context) const {
      *sample.emplace<float, 0>("drawn", {}).data() = static_cast<float>(image::draw_beta(0.3, context.rng()));
    }
  };
  Loader drawn(from(Records{}) | Draws{} | batch(6), {.threads = 1, .epochs = 1});
  Loader mixed(from(Records{}) | batch(6) | mixup({.alpha = 0.3}), {.threads = 1, .epochs = 1});
  for (const Batch& batch : mixed.epoch()) {
    const std::optional<Batch> of_samples = drawn.next();
    REQUIRE(of_samples);
    for (std::uint64_t r = 0; r + 1 < batch.size(); r += 2)
      CHECK(at(batch["label"], r * classes + batch.indices()[r] % classes) == at((*of_samples)["drawn"], r));
  }
}

TEST_CASE("mixup rounds once to f16 and bf16") {
  // The same draws as for f32, whose share the label shows exactly.
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Loader exact(from(Records{}) | batch(8) | mixup(), {.threads = 1});
    Loader loader(from(Records{.dtype = dtype}) | batch(8) | mixup(), {.threads = 1});
    auto of_exact = exact.epoch();
    auto expected = of_exact.begin();
    for (const Batch& batch : loader.epoch()) {
      const TensorView is = batch["image"], full = (*expected)["image"];
      for (std::uint64_t i = 0; i < is.shape.elements(); ++i) REQUIRE(at(is, i) == rounded(at(full, i), dtype));
      ++expected;
    }
  }
}

TEST_CASE("cutmix replaces one box in both rows of a pair, and mixes labels by the pixels that stay") {
  for (const DType dtype : {DType::u8, DType::f16, DType::f32})
    for (const bool chw : {false, true}) {
      const Records records{.dtype = dtype, .count = 60, .chw = chw, .bad = {1, 4, 8, 11, 16, 20, 31, 47}};
      const Pipeline p =
          from(records) | shuffle({.seed = 3}) | on_error({.policy = OnError::mask}) | batch(9) | cutmix();
      Loader loader(p, {.threads = 2});
      std::set<std::uint64_t> sizes;
      for (const Batch& batch : loader.epoch()) {
        const TensorView image = batch["image"], label = batch["label"];
        std::vector<std::vector<bool>> boxes(batch.size());
        for (std::uint64_t r = 0; r < batch.size(); ++r) {
          const std::uint64_t other = r ^ 1;
          const bool mixes = batch.mask()[r] != 0 && other < batch.size() && batch.mask()[other] != 0;
          const float own = batch.mask()[r] != 0 ? static_cast<float>(batch.indices()[r] + 1) : 0;
          std::int64_t top = high, left = wide, bottom = -1, right = -1;
          std::uint64_t inside = 0;
          for (std::int64_t y = 0; y < high; ++y)
            for (std::int64_t x = 0; x < wide; ++x) {
              bool replaced = false;
              for (std::int64_t c = 0; c < 3; ++c) {
                const auto i = static_cast<std::uint64_t>(chw ? (c * high + y) * wide + x : (y * wide + x) * 3 + c);
                const float value = at(image, r * high * wide * 3 + i);
                if (c != 0) REQUIRE((value != own) == replaced);
                replaced = value != own;
                if (replaced) REQUIRE(value == static_cast<float>(batch.indices()[other] + 1));
              }
              boxes[r].push_back(replaced);
              if (!replaced) continue;
              ++inside;
              top = std::min(top, y), left = std::min(left, x), bottom = std::max(bottom, y),
              right = std::max(right, x);
            }
          if (!mixes) {
            CHECK(inside == 0);
            continue;
          }
          sizes.insert(inside);
          if (inside != 0) CHECK(inside == static_cast<std::uint64_t>((bottom - top + 1) * (right - left + 1)));
          if (r % 2 == 1) CHECK(boxes[r] == boxes[r - 1]);
          const std::uint64_t of_row = batch.indices()[r] % classes, of_other = batch.indices()[other] % classes;
          if (of_row == of_other) continue;
          const float stays =
              static_cast<float>(high * wide - static_cast<std::int64_t>(inside)) / static_cast<float>(high * wide);
          CHECK(at(label, r * classes + of_row) == rounded(stays, label.dtype));
          CHECK(at(label, r * classes + of_other) == rounded(1 - stays, label.dtype));
        }
      }
      CHECK(sizes.size() >= 5);
      CHECK(*sizes.rbegin() > high * wide / 3);
    }
}

TEST_CASE("mixup and cutmix have the host's bits on emulated GPUs, at any number of threads, after a resume") {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Pipeline p = from(Records{.dtype = dtype, .bad = {2, 9}}) | shuffle({.seed = 5}) |
                       on_error({.policy = OnError::mask}) | batch(7, {.tail = Tail::pad}) | mixup({.alpha = 0.4}) |
                       cutmix({.layout = Layout::hwc}) | mixup({.fields = {"label"}});
    const std::vector<Bytes> expected = on_host(p);
    for (const auto mode : {EmulatedGpuOptions::Mode::late, EmulatedGpuOptions::Mode::threaded})
      CHECK(on_device(p, mode) == expected);
    std::vector<State> states;
    Loader loader(p, {.threads = 1});
    for (int i = 0; i < 8; ++i) {
      states.push_back(loader.state());
      if (!loader.next()) states.pop_back(), --i;
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      Loader rest(p, {.threads = 5});
      rest.resume(states[i]);
      std::optional<Batch> batch = rest.next();
      if (!batch) batch = rest.next();
      REQUIRE(batch);
      const TensorView image = (*batch)["image"];
      CHECK(Bytes(image.data, image.data + image.bytes()) == expected[2 * i]);
    }
  }
}

TEST_CASE("stages that mix rows make the number of ranks part of the fingerprint") {
  const Pipeline plain = from(Records{}) | batch(8), mixed = plain | mixup(), cut = plain | cutmix();
  const auto on = [](const Pipeline& p, int world) {
    return (p | for_rank({.rank = 0, .world = world})).fingerprint();
  };
  CHECK(on(plain, 2) == on(plain, 4));
  CHECK(on(mixed, 2) != on(mixed, 4));
  CHECK(on(cut, 2) != on(cut, 4));
}

TEST_CASE("mixup and cutmix refuse what they can't mix, and say what to do") {
  CHECK(cause([] { (void)mixup({.alpha = 0}); }) == "mixup: alpha 0 is not 0.001 to 1000");
  CHECK(cause([] { (void)mixup({.fields = {}}); }) == "mixup: no field is named");
  CHECK(cause([] { (void)mixup({.fields = {"a", "b", "a"}}); }) == "mixup: field \"a\" is named twice");
  CHECK(cause([] { (void)cutmix({.image = "a", .fields = {"a"}}); }) == "cutmix: field \"a\" is named twice");
  const auto on = [](const Records& records, const Stage& stage) {
    return cause([&] { (void)(from(records) | batch(4) | stage); });
  };
  CHECK(on({.dtype = DType::u8}, mixup()).find("convert or normalize images before, and make labels vectors") !=
        std::string::npos);
  CHECK(on({}, mixup({.fields = {"other"}})).find("other") != std::string::npos);
  struct Square {
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"image", DType::u8, {3, 8, 3}}, {"label", DType::f32, {2}}}; }
    void read(std::uint64_t, SampleBuilder&) const {}
  };
  CHECK(cause([] { (void)(from(Square{}) | batch(4) | cutmix()); }).find("say it with `.layout`") != std::string::npos);
  CHECK((from(Square{}) | batch(4) | cutmix({.layout = Layout::hwc})).schema().size() == 2);
  CHECK(cause([] { (void)(from(Records{}) | mixup()); }).find("after batch") != std::string::npos);
  struct Words {
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"image", DType::f32, {2, 2, 3}}, {"label", DType::f32, {dynamic}}}; }
    void read(std::uint64_t, SampleBuilder&) const {}
  };
  for (const Stage& collate : {pad("label", {.to = 4}), pad("label"), ragged("label")})
    CHECK(cause([&] { (void)(from(Words{}) | collate | batch(4) | mixup()); }).find("by a map before batch, instead") !=
          std::string::npos);
}

TEST_CASE("plan() names the row that an odd share of a batch leaves without a neighbour") {
  const Pipeline p = from(Records{}) | batch(6);
  const auto line = [](const Pipeline& of) {
    const std::string plan = of.plan();
    const std::size_t at = plan.find("mixup: the last of ");
    return at == std::string::npos ? "" : plan.substr(at, plan.find('\n', at) - at);
  };
  CHECK(line(p | mixup()) == "");
  CHECK(line(p | mixup() | for_rank({.rank = 0, .world = 2})) == "mixup: the last of 3 rows has no neighbour");
  CHECK(line(p | mixup() | for_rank({.rank = 1, .world = 3})) == "");
  CHECK(line(from(Records{}) | batch(7) | mixup()) == "mixup: the last of 7 rows has no neighbour");
}

}  // namespace PENSTOCK_TEST_FILE
