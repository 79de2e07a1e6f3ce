// SPDX-License-Identifier: Apache-2.0
// Images that are decoded after batch, by the loader's threads and by a device, against the same stages before it.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/device_stage.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/image/both_sides.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// A code of four bytes and some more that only have to be there: height, width, which noise, whether batches take it.
Image noise_of(std::span<const std::byte> encoded) {
  const auto at = [&](std::size_t i) { return std::to_integer<std::int32_t>(encoded[i]); };
  return static_noise({at(0), at(1), 3}, static_cast<std::uint64_t>(at(2)));
}

// The fourth byte of an image of which the device finds out late that it can't decode it.
constexpr std::byte refused{2};

struct Counts {
  std::atomic<int> by_runners{0}, by_device{0}, changed{0};
};

class NoiseDecoding final : public ImageDecoding {
 public:
  explicit NoiseDecoding(std::shared_ptr<Counts> counts) : counts_(std::move(counts)) {}
  ImageShape open(std::span<const std::byte> encoded) override {
    if (encoded.size() < 4 || encoded[0] == std::byte{0}) throw Error(Errc::corrupt, "no image");
    encoded_ = encoded;
    return {std::to_integer<std::int32_t>(encoded[0]), std::to_integer<std::int32_t>(encoded[1]), 3};
  }
  Pixels decode(const Box& box, bool, std::byte* into, Scratch& scratch) override {
    ++counts_->by_runners;
    const Image image = noise_of(encoded_);
    const std::ptrdiff_t stride = std::ptrdiff_t{image.shape.width} * 3;
    const bool whole = box == Box{0, 0, image.shape.height, image.shape.width};
    std::byte* const out = into != nullptr && whole ? into : scratch.allocate(image.pixels.size());
    std::memcpy(out, image.pixels.data(), image.pixels.size());
    return {reinterpret_cast<const std::uint8_t*>(out) + box.top * stride + box.left * 3,
            stride,
            {box.height, box.width, 3}};
  }
  bool for_batches() const override { return encoded_[3] != std::byte{0}; }

 private:
  std::shared_ptr<Counts> counts_;
  std::span<const std::byte> encoded_;
};

// As an engine may, it writes pixels when it is asked, whatever is on the stream still, and reads what is encoded
// later.
class NoiseBatches final : public BatchDecoding {
 public:
  explicit NoiseBatches(std::shared_ptr<Counts> counts) : counts_(std::move(counts)) {}
  bool decode(std::span<const BatchDecoding::Image> images, StreamRef stream) override {
    for (const BatchDecoding::Image& image : images) {
      if (image.encoded[3] == refused) return false;
      ++counts_->by_device;
      const auto made = noise_of(image.encoded);
      std::memcpy(image.pixels, made.pixels.data(), made.pixels.size());
      const std::vector<std::byte> was(image.encoded.begin(), image.encoded.end());
      launch_on_host(stream, "decode",
                     [counts = counts_, was, encoded = image.encoded] {
                       if (!std::equal(was.begin(), was.end(), encoded.begin())) ++counts->changed;
                     },
                     {{image.encoded.data(), image.encoded.size(), false}, {image.pixels, made.pixels.size(), true}});
    }
    return true;
  }

 private:
  std::shared_ptr<Counts> counts_;
};

struct NoiseDecoder : ImageDecoder {
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();
  double share = 0;
  std::string name() const override { return "decode_noise"; }
  std::string describe() const override { return ""; }
  std::int64_t channels() const override { return 3; }
  std::unique_ptr<ImageDecoding> start() const override { return std::make_unique<NoiseDecoding>(counts); }
  std::unique_ptr<BatchDecoding> start_batches(Device device) const override {
    if (device.kind != Device::Kind::emulated) return nullptr;
    return std::make_unique<NoiseBatches>(counts);
  }
  double host_share() const override { return share; }
};

struct Encoded {
  bool bad = false;
  std::uint64_t size() const { return 61; }
  Schema schema() const { return {{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(4 + i % 5)});
    std::fill(to.begin(), to.end(), static_cast<std::uint8_t>(i));
    to(0) = bad && i % 9 == 4 ? 0 : static_cast<std::uint8_t>(20 + i % 30);
    to(1) = static_cast<std::uint8_t>(20 + i * 7 % 60);
    to(2) = static_cast<std::uint8_t>(i);
    to(3) = i % 4 != 1 ? 1 : 0;
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i));
  }
};

Stage decode_noise(const std::shared_ptr<NoiseDecoder>& decoder) {
  return decode_stage("image", decoder, image_executor());
}

Pipeline cut(const Pipeline& p) {
  return p | random_resized_crop("image", {16, 12}) | random_flip("image") | normalize("image");
}

void check_decoded(const std::shared_ptr<NoiseDecoder>& decoder, const Pipeline& source,
                   const BatchOptions& options = {}) {
  check_both_sides(cut(source | decode_noise(decoder)) | batch(8, options),
                   cut(source | ragged("image") | batch(8, options) | decode_noise(decoder)));
  CHECK(decoder->counts->changed == 0);
}

// How many images the device decodes in an epoch.
int by_device(const std::shared_ptr<NoiseDecoder>& decoder, const Pipeline& source) {
  EmulatedGpu gpu;
  decoder->counts->by_device = 0;
  Loader loader(cut(source | ragged("image") | batch(8) | decode_noise(decoder)),
                {.device = gpu.device(), .epochs = 1});
  while (loader.next()) {
  }
  return decoder->counts->by_device;
}

}  // namespace

TEST_CASE("images are decoded after batch by the device and by the loader's threads to the bits they have before it") {
  const auto decoder = std::make_shared<NoiseDecoder>();
  const Pipeline source = from(Encoded{}) | shuffle({.seed = 3});
  check_decoded(decoder, source);
  CHECK(by_device(decoder, source) == 46);  // a quarter of 61 is not for batches
  check_decoded(decoder, source, {.tail = Tail::pad});
  check_decoded(decoder, from(Encoded{.bad = true}) | on_error({.policy = OnError::mask}));
  check_decoded(decoder, from(Encoded{.bad = true}) | on_error({.policy = OnError::drop}));
}

TEST_CASE("what is encoded stays until the device has read it, however few batches there are") {
  const auto decoder = std::make_shared<NoiseDecoder>();
  const Pipeline p = cut(from(Encoded{}) | ragged("image") | batch(4) | decode_noise(decoder));
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    EmulatedGpu gpu({.mode = EmulatedGpuOptions::Mode::late, .checked = true, .seed = seed});
    auto stream = gpu.make_stream("consumer");
    Loader loader(p, {.device = gpu.device(), .threads = 2, .depth = 2, .device_depth = 4, .epochs = 3});
    for (int epoch = 0; epoch < 3; ++epoch)
      for (const Batch& batch : loader.epoch(stream.ref())) static_cast<void>(batch);
    stream.synchronize();
    for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
  }
  CHECK(decoder->counts->changed == 0);
}

TEST_CASE("a share of what a device could decode is the loader's threads', the same in every run") {
  const Pipeline source = from(Encoded{}) | shuffle({.seed = 3});
  const auto with = [&](double share) {
    const auto decoder = std::make_shared<NoiseDecoder>();
    decoder->share = share;
    check_decoded(decoder, source);
    return by_device(decoder, source);
  };
  const int half = with(0.5);
  CHECK(half > 46 / 4);
  CHECK(half < 46 * 3 / 4);
  CHECK(with(0.5) == half);
  CHECK(with(1) == 0);
  // What has to be verified is no engine's.
  CHECK(by_device(std::make_shared<NoiseDecoder>(), source | check({.verify = true})) == 0);
}

TEST_CASE("each of several devices decodes its rows of a batch") {
  EmulatedGpu first({.checked = true}), second({.checked = true});
  auto one = first.make_stream("one"), two = second.make_stream("two");
  const auto decoder = std::make_shared<NoiseDecoder>();
  const Pipeline source = from(Encoded{}) | shuffle({.seed = 4}) | drop_fields({"label"});
  const std::vector<Bytes> expected = on_host(cut(source | decode_noise(decoder)) | batch(9, {.tail = Tail::drop}));
  Loader loader(cut(source | ragged("image") | batch(9, {.tail = Tail::drop}) | decode_noise(decoder)),
                {.devices = {first.device(), second.device()}, .epochs = 2});
  const std::vector<StreamRef> streams{one.ref(), two.ref()};
  std::size_t at = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    while (auto parts = loader.next_parts(streams)) {
      one.synchronize();
      two.synchronize();
      Bytes got;
      for (const Batch& part : *parts) {
        const TensorView t = part["image"];
        got.insert(got.end(), t.data, t.data + t.bytes());
      }
      REQUIRE(at < expected.size());
      CHECK(got == expected[at++]);
    }
  CHECK(at == expected.size());
  CHECK(decoder->counts->by_device > 0);
  CHECK(first.findings().empty());
  CHECK(second.findings().empty());
}

TEST_CASE("what can't be decoded after batch is refused with what to do") {
  const auto decoder = std::make_shared<NoiseDecoder>();
  const Pipeline source = from(Encoded{}) | ragged("image") | batch(8);
  const auto refused = [&](const Pipeline& p) {
    return error_of([&] { static_cast<void>(Loader(p, {.threads = 1})); });
  };
  const auto padded = error_of(
      [&] { static_cast<void>(from(Encoded{}) | pad("image", {.to = 9}) | batch(8) | decode_noise(decoder)); });
  CHECK(padded.code() == Errc::schema_mismatch);
  CHECK(mentions(padded, "ragged(\"image\")"));
  const auto no_size = refused(source | decode_noise(decoder));
  CHECK(no_size.code() == Errc::schema_mismatch);
  CHECK(mentions(no_size, "random_resized_crop"));
  CHECK(mentions(no_size, "decode_noise(image)"));
  CHECK(refused(source | decode_noise(decoder) | random_flip("image")).code() == Errc::schema_mismatch);
  const auto mapped = error_of(
      [&] { static_cast<void>(source | map_batches([](HostBatch&) {}, {.name = "own"}) | decode_noise(decoder)); });
  CHECK(mentions(mapped, "no decoder stands after own; put the decoder before batch"));
  struct Look {
    Schema schema(const Schema& in) const { return in; }
    void run(BatchView, BatchView, StreamRef) const {}
  };
  CHECK(mentions(refused(source | decode_noise(decoder) | Look{} | resize("image", {9, 9})), "of your own"));
  static_cast<void>(Loader(source | decode_noise(decoder) | resize("image", {9, 9}) | Look{}, {.threads = 1}));
}

TEST_CASE("a decoder that no device has leaves the others to their devices and the report says so") {
  struct Everywhere final : NoiseDecoder {
    std::unique_ptr<BatchDecoding> start_batches(Device) const override { return nullptr; }
  };
  struct Two {
    Encoded one;
    std::uint64_t size() const { return one.size(); }
    Schema schema() const { return {{"image", DType::u8, {dynamic}}, {"second", DType::u8, {dynamic}}}; }
    void read(std::uint64_t i, SampleBuilder& out) const {
      for (const char* field : {"image", "second"}) {
        const auto to = out.emplace<std::uint8_t, 1>(field, {4});
        to(0) = to(1) = 30;
        to(2) = static_cast<std::uint8_t>(i);
        to(3) = 1;
      }
    }
  };
  const auto device = std::make_shared<NoiseDecoder>();
  const auto threads = std::make_shared<Everywhere>();
  EmulatedGpu gpu;
  Loader loader(
      from(Two{}) | ragged("image") | ragged("second") | batch(8) | decode_stage("image", device, image_executor()) |
          decode_stage("second", threads, image_executor()) | resize("image", {9, 9}) | resize("second", {9, 9}),
      {.device = gpu.device(), .epochs = 1});
  while (loader.next()) {
  }
  CHECK(device->counts->by_device == 61);
  CHECK(device->counts->by_runners == 0);
  CHECK(threads->counts->by_runners == 61);
  const std::vector<std::string> notes = loader.report().notes;
  CHECK(std::count_if(notes.begin(), notes.end(), [](const std::string& note) {
          return note.find("decode_noise(second): the loader's threads decode") == 0;
        }) == 1);
}

TEST_CASE("an image is too large for max_sample_bytes whoever decodes it") {
  const auto decoder = std::make_shared<NoiseDecoder>();
  const Pipeline source = from(Encoded{}) | check({.max_sample_bytes = 6000}) | on_error({.policy = OnError::drop});
  check_decoded(decoder, source);
  const Error error = error_of([&] {
    EmulatedGpu gpu;
    Loader loader(
        cut(from(Encoded{}) | check({.max_sample_bytes = 100}) | ragged("image") | batch(8) | decode_noise(decoder)),
        {.device = gpu.device(), .epochs = 1});
    static_cast<void>(loader.next());
  });
  CHECK(error.code() == Errc::limit_exceeded);
  CHECK(mentions(error, "field \"image\""));
}

TEST_CASE("labels that are decoded after batch are not interpolated") {
  struct Labels final : NoiseDecoder {
    bool labels() const override { return true; }
  };
  const auto decoder = std::make_shared<Labels>();
  const Pipeline source = from(Encoded{}) | ragged("image") | batch(8) | decode_noise(decoder);
  const auto error = error_of([&] { static_cast<void>(source | resize("image", {9, 9})); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "decoded as labels"));
  static_cast<void>(Loader(source | resize(mask("image"), {9, 9}), {.threads = 1}));
}

TEST_CASE("decoded images are under the device's limit and in the report") {
  const auto decoder = std::make_shared<NoiseDecoder>();
  const Pipeline p = cut(from(Encoded{}) | ragged("image") | batch(8) | decode_noise(decoder));
  EmulatedGpu gpu;
  auto stream = gpu.make_stream("consumer");
  std::size_t used = 0;
  {
    Loader loader(p, {.device = gpu.device(), .threads = 1, .epochs = 1});
    while (loader.next(stream.ref())) used = std::max<std::size_t>(used, gpu.device_bytes_used());
    std::uint64_t told = 0;
    bool named = false;
    for (const MemoryPurpose& row : loader.report().memory) {
      if (row.name.find("emulated") != std::string::npos && row.name.find("pinned") == std::string::npos)
        told += row.bytes();
      named = named || row.name.find("images decoded on") != std::string::npos;
    }
    CHECK(named);
    CHECK(told >= used);  // as if all had grown to the largest batch
  }
  CHECK(gpu.device_bytes_used() == 0);
  CHECK(gpu.pinned_bytes_used() == 0);
  // A limit is kept, whether the batches fit or not.
  for (std::size_t limit = used / 2; limit < 2 * used; limit += used / 16) {
    std::size_t most = 0;
    try {
      Loader loader(p, {.device = gpu.device(), .threads = 1, .max_device_bytes = limit, .epochs = 1});
      while (loader.next(stream.ref())) most = std::max<std::size_t>(most, gpu.device_bytes_used());
    } catch (const Error& refused) {
      CHECK(refused.code() == Errc::out_of_memory);
      CHECK(limit < used * 3 / 2);
    }
    CHECK(most <= limit);
  }
  // What other memory may have says nothing of it.
  Loader small(p, {.device = gpu.device(), .threads = 1, .max_pinned_bytes = std::size_t{96} << 10, .epochs = 1});
  std::uint64_t rows = 0;
  while (auto batch = small.next(stream.ref())) rows += batch->size();
  CHECK(rows == 61);
  const auto error = error_of([&] {
    Loader loader(
        p, {.device = gpu.device(), .threads = 1, .max_device_bytes = used - (std::size_t{24} << 10), .epochs = 1});
    while (loader.next(stream.ref())) {
    }
  });
  CHECK(error.code() == Errc::out_of_memory);
}

TEST_CASE("a batch with an image that a device turns out not to know is decoded by the host") {
  struct Odd {
    Encoded inner = {};
    std::uint64_t size() const { return inner.size(); }
    Schema schema() const { return inner.schema(); }
    void read(std::uint64_t i, SampleBuilder& out) const {
      const auto to = out.emplace<std::uint8_t, 1>("image", {4});
      to(0) = 30;
      to(1) = static_cast<std::uint8_t>(20 + i);
      to(2) = static_cast<std::uint8_t>(i);
      to(3) = i % 16 == 13 ? std::to_integer<std::uint8_t>(refused) : 1;
      out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i));
    }
  };
  const auto decoder = std::make_shared<NoiseDecoder>();
  check_decoded(decoder, from(Odd{}));
  EmulatedGpu gpu({.checked = true});
  auto stream = gpu.make_stream("consumer");
  Loader loader(cut(from(Odd{}) | ragged("image") | batch(8) | decode_noise(decoder)),
                {.device = gpu.device(), .epochs = 1});
  while (loader.next(stream.ref())) {
  }
  // Three batches of eight.
  std::string notes;
  for (const std::string& note : loader.report().notes) notes += note + "\n";
  CAPTURE(notes);
  CHECK(notes.find("took batches with a file that it can't decode; 24 images of them") != std::string::npos);
  CHECK(gpu.findings().empty());
}

TEST_CASE("a decoder that fails ends the epoch by its stage's name and the next epoch comes whole") {
  struct Failing final : ImageDecoder {
    std::shared_ptr<NoiseDecoder> inner = std::make_shared<NoiseDecoder>();
    std::shared_ptr<std::atomic<int>> left = std::make_shared<std::atomic<int>>(3);
    std::string name() const override { return "decode_noise"; }
    std::string describe() const override { return ""; }
    std::int64_t channels() const override { return 3; }
    std::unique_ptr<ImageDecoding> start() const override { return inner->start(); }
    std::unique_ptr<BatchDecoding> start_batches(Device device) const override {
      struct Fails final : BatchDecoding {
        std::unique_ptr<BatchDecoding> inner;
        std::shared_ptr<std::atomic<int>> left;
        bool decode(std::span<const BatchDecoding::Image> images, StreamRef stream) override {
          if (left->fetch_sub(1) == 1) throw Error(Errc::device, "planted");
          return inner->decode(images, stream);
        }
      };
      auto fails = std::make_unique<Fails>();
      fails->inner = inner->start_batches(device);
      fails->left = left;
      return fails;
    }
  };
  const Pipeline source = from(Encoded{});
  const std::vector<Bytes> expected = on_host(cut(source | decode_noise(std::make_shared<NoiseDecoder>())) | batch(8));
  EmulatedGpu gpu({.checked = true});
  auto stream = gpu.make_stream("consumer");
  Loader loader(
      cut(source | ragged("image") | batch(8) | decode_stage("image", std::make_shared<Failing>(), image_executor())),
      {.device = gpu.device(), .threads = 2});
  std::size_t whole = 0;
  const auto error = error_of([&] {
    for (const Batch& batch : loader.epoch(stream.ref())) whole += batch.size();
  });
  CHECK(error.stage() == "decode_noise(image)");
  CHECK(mentions(error, "planted"));
  CHECK(whole == 16);
  std::vector<Bytes> next;
  for (const Batch& batch : loader.epoch(stream.ref())) {
    stream.synchronize();
    for (const Field& field : batch.schema()) {
      const TensorView t = batch[field.name];
      next.emplace_back(t.data, t.data + t.bytes());
    }
  }
  REQUIRE(next.size() == expected.size() / 2);
  CHECK(std::equal(next.begin(), next.end(), expected.begin() + static_cast<std::ptrdiff_t>(next.size())));
  CHECK(gpu.findings().empty());
}
