// SPDX-License-Identifier: Apache-2.0
// What encoders refuse, what damage becomes where a file is kept, and what plan() says.
#include "support/catch.hpp"

#include <string>

#include "core/chain/album.hpp"

using namespace album;

namespace {

ps::Stage encode(bool keeps = false, const std::string& out = {}) { return fake::encode_stage("image", keeps, out); }

// Fields of every kind.
struct Kinds {
  ps::Schema of;
  std::uint64_t size() const { return 1; }
  ps::Schema schema() const { return of; }
  void read(std::uint64_t, ps::SampleBuilder& out) const {
    for (std::size_t slot = 0; slot < of.size(); ++slot) {
      const ps::TensorView value = out.emplace(slot, of[slot].shape);
      std::fill_n(value.data, value.bytes(), std::byte{1});
    }
  }
};

// Images whose shapes only the records tell.
struct Shapes {
  std::vector<ps::Shape> shapes;
  std::uint64_t size() const { return shapes.size(); }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic, ps::dynamic, ps::dynamic}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const ps::TensorView to = out.emplace(0, shapes[i]);
    std::fill_n(to.data, to.bytes(), std::byte{7});
  }
};

// Does what a test wants when it is asked to encode.
class Doing final : public ps::ImageEncoder {
 public:
  explicit Doing(std::function<void(ps::EncodedFile&)> act, std::size_t scratch = 0)
      : act_(std::move(act)), scratch_(scratch) {}
  std::string name() const override { return "doing"; }
  std::string describe() const override { return ""; }
  bool takes(ps::DType, std::int32_t) const override { return true; }
  void encode(const ps::Pixels&, ps::EncodedFile& out, ps::Scratch& scratch) const override {
    if (scratch_ != 0) scratch.allocate(scratch_);
    act_(out);
  }

 private:
  std::function<void(ps::EncodedFile&)> act_;
  std::size_t scratch_;
};
ps::Pipeline doing(std::function<void(ps::EncodedFile&)> act, std::size_t scratch = 0) {
  return ps::from(Album(Album::promises)) |
         ps::encode_stage("image", std::make_shared<const Doing>(std::move(act), scratch), fake::executor());
}

}  // namespace

TEST_CASE("an encoder refuses what the schema says it can't take") {
  const auto refused = [](ps::DType dtype, const ps::Shape& shape) {
    const auto error = error_of([&] { (void)(ps::from(Kinds{{{"image", dtype, shape}}}) | encode()); });
    if (!error) return std::string("taken");
    CHECK(error->code() == ps::Errc::schema_mismatch);
    CHECK(error->stage() == "encode_raw(image)");
    return error->cause();
  };
  using enum ps::DType;
  CHECK(refused(u8, {5, 5, 3}) == "taken");
  CHECK(refused(u8, {ps::dynamic, ps::dynamic, ps::dynamic}) == "taken");
  CHECK(refused(f32, {5, 5, 3}) ==
        "field \"image\" is f32[5, 5, 3], but encode_raw takes images, u8[H, W, C] or u16[H, W, C]; decode before it, "
        "convert or normalise after it");
  CHECK(refused(u8, {5, 5}).find("takes images") != std::string::npos);
  CHECK(refused(u8, {5, 5, 2}) == "field \"image\" is u8[5, 5, 2], but encode_raw takes u8 images of 1 or 3 channels");
  CHECK(refused(u8, {5, 5, 9}).find("takes u8 images of 1 or 3 channels") != std::string::npos);
  CHECK(refused(u16, {5, 5, 3}) ==
        "field \"image\" is u16[5, 5, 3], but encode_raw takes u8 images of 1 or 3 channels; encode_png keeps 16 bits, "
        "and cast(\"image\", DType::u8) before it values of 0 to 255 alone");
  CHECK(refused(u16, {5, 5, ps::dynamic}).find("takes u8 images") != std::string::npos);
  CHECK(refused(u8, {5, 201, 3}) == "field \"image\" is u8[5, 201, 3], but encode_raw takes sides of 1 to 200 pixels");
  CHECK(refused(u8, {201, ps::dynamic, 3}).find("sides of 1 to 200") != std::string::npos);
  CHECK(refused(u8, {0, 5, 3}).find("sides of 1 to 200") != std::string::npos);

  const ps::Pipeline p = ps::from(Album(Album::pixels));
  const auto none = error_of([&] { (void)(p | fake::encode_stage("photo")); });
  REQUIRE(none);
  CHECK(none->cause().find("there is no field \"photo\"") != std::string::npos);
  const auto twice = error_of([&] { (void)(p | encode(false, "label")); });
  REQUIRE(twice);
  CHECK(twice->code() == ps::Errc::invalid_argument);
  CHECK(twice->cause().find("there is a field \"label\" already") != std::string::npos);
  CHECK(twice->stage() == "encode_raw(image)");
  CHECK((p | encode(false, "image")).schema().to_string() == "{image: u8[?], label: i64[]}");
  const auto batched = error_of([&] { (void)(p | ps::batch(2) | encode()); });
  REQUIRE(batched);
  CHECK(batched->code() == ps::Errc::invalid_argument);
  const auto nothing = error_of([&] { (void)ps::encode_stage("image", nullptr, fake::executor()); });
  REQUIRE(nothing);
  CHECK(nothing->code() == ps::Errc::invalid_argument);
  CHECK(nothing->stage() == "encode_stage(image)");
  const auto again = error_of([&] { (void)(p | encode() | encode()); });
  REQUIRE(again);
  CHECK(again->code() == ps::Errc::schema_mismatch);
}

TEST_CASE("an image that only its record shows to be none for the encoder is one bad sample") {
  const Shapes source{{{9, 8, 3}, {9, 8, 2}, {9, 201, 3}, {8, 8, 5}, {0, 8, 3}, {9, 8, 1}}};
  const ps::Pipeline p = ps::from(source) | encode();
  const auto cause = [&](std::uint64_t position) {
    const auto error = error_of([&] { (void)p.at(position); });
    if (!error) return std::string("taken");
    CHECK(error->code() == ps::Errc::unsupported);
    CHECK(error->stage() == "encode_raw(image)");
    CHECK(error->index() == position);
    return error->cause();
  };
  CHECK(cause(0) == "taken");
  CHECK(cause(1) ==
        "the image is u8[9, 8, 2], but encode_raw takes u8 images of 1 or 3 channels; map it to another number of "
        "channels before");
  CHECK(cause(2) ==
        "the image is u8[9, 201, 3], but encode_raw takes sides of 1 to 200 pixels; crop or resize it before");
  CHECK(cause(3).find("1 to 4 channels") != std::string::npos);
  CHECK(cause(4).find("no empty side") != std::string::npos);
  CHECK(cause(5) == "taken");
  const auto got =
      collect(p | ps::on_error({.policy = ps::OnError::mask}) | ps::ragged("image") | ps::batch(6), {.threads = 2});
  REQUIRE(got.size() == 1);
  CHECK(got[0].mask == std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1});
}

TEST_CASE("what an encoder throws names its stage, and is one sample's where it is about the image") {
  const auto thrown = [](const ps::Pipeline& p) {
    const auto error = error_of([&] { (void)p.at(4); });
    REQUIRE(error);
    CHECK(error->stage() == "doing(image)");
    CHECK(error->key() == "picture 4");
    return *error;
  };
  const ps::Error argument =
      thrown(doing([](ps::EncodedFile&) { throw ps::Error(ps::Errc::invalid_argument, "too red"); }));
  CHECK(argument.code() == ps::Errc::unsupported);
  CHECK(argument.cause() == "too red");
  CHECK(thrown(doing([](ps::EncodedFile&) { throw ps::Error(ps::Errc::io, "no disk"); })).code() == ps::Errc::io);
  CHECK(thrown(doing([](ps::EncodedFile&) { throw std::runtime_error("own"); })).code() == ps::Errc::user);
  const auto too_long = [](ps::EncodedFile& file) {
    const std::vector<std::byte> some(1000);
    for (int n = 0; n < 1000; ++n) file.append(some);
  };
  const ps::Error too_large = thrown(doing(too_long) | ps::check({.max_sample_bytes = 999'999}));
  CHECK(too_large.code() == ps::Errc::limit_exceeded);
  // Before there is memory for more.
  CHECK(too_large.cause() == "the encoded image is larger than `max_sample_bytes` = 999999");
  CHECK(doing(too_long).at(4)["image"].bytes() == 1'000'000);
  CHECK(doing([](ps::EncodedFile&) {}).at(4)["image"].bytes() == 0);
  // What is kept, too: the file is longer than its pixels are.
  const ps::Pipeline kept = ps::from(Album(Album::promises)) | encode(true) | ps::check({.max_sample_bytes = 370});
  const auto error = error_of([&] { (void)kept.at(4); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::limit_exceeded);
  CHECK(error->stage() == "encode_raw(image)");
}

TEST_CASE("the memory that an encoder takes is its runner's") {
  const auto code = [](std::size_t file, std::size_t scratch) {
    const auto append = [file](ps::EncodedFile& out) { out.append(std::vector<std::byte>(file)); };
    const auto error = error_of([&] {
      ps::Loader loader(doing(append, scratch) | ps::drop_fields({"image"}) | ps::batch(10),
                        {.threads = 2, .max_memory_bytes = ps::MiB(32), .epochs = 1});
      while (loader.next()) {
      }
    });
    return error ? std::optional(error->code()) : std::nullopt;
  };
  CHECK(code(1000, 1000) == std::nullopt);
  CHECK(code(std::size_t{64} << 20, 0) == ps::Errc::out_of_memory);
  CHECK(code(1000, std::size_t{64} << 20) == ps::Errc::out_of_memory);
}

TEST_CASE("an encoder stands before a conversion") {
  struct Planes {
    struct Params {};
    Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
    void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const {
      op.convert(ps::DType::u8, ps::Layout::chw, {1, 1, 1, 1}, {0, 0, 0, 0});
    }
    ps::Shape schema(const ps::Shape& in) const { return {in[2], in[0], in[1]}; }
    std::string name() const { return "planes"; }
  };
  for (const std::string out : {"", "file"}) {
    const ps::Pipeline p = images(Album(Album::files)) | fake::image_stage("image", Planes{}) | encode(false, out);
    const auto error = error_of([&] { (void)p.at(0); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::invalid_argument);
    CHECK(error->stage() == "encode_raw(image)");
  }
}

TEST_CASE("labels are encoded without loss, or not at all") {
  class Labels final : public ps::ImageDecoder {
   public:
    std::string name() const override { return "decode_labels"; }
    std::string describe() const override { return ""; }
    std::int64_t channels() const override { return 3; }
    bool labels() const override { return true; }
    std::unique_ptr<ps::ImageDecoding> start() const override { return std::make_unique<fake::Decoding>(); }
  };
  const ps::Pipeline p =
      ps::from(Album(Album::files)) | ps::decode_stage("image", std::make_shared<const Labels>(), fake::executor());
  CHECK((p | encode()).at(0)["image"].bytes() > 0);
  const auto error = error_of([&] {
    (void)(p | ps::encode_stage("image", std::make_shared<const Doing>([](ps::EncodedFile&) {}), fake::executor()));
  });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::invalid_argument);
  CHECK(error->stage() == "doing(image)");
  // Beside the file, the labels are labels still.
  CHECK_THROWS_AS(
      p | encode(false, "file") |
          ps::encode_stage("image", std::make_shared<const Doing>([](ps::EncodedFile&) {}), fake::executor()),
      ps::Error);
}

TEST_CASE("a damaged file is kept as it is, or, verified, an error as damaged pixels are") {
  const Watchdog dog(60s);
  const std::set<std::uint64_t> damaged{4, 7, 31};
  for (const Album::How how : {Album::promises, Album::files}) {
    const Album album(how, false, damaged);
    for (const bool fold : {true, false}) {
      CAPTURE(int{how}, fold);
      const ps::Pipeline made = images(album) | encode(true), p = made | ps::check({.fold = fold}),
                         verified = made | ps::check({.verify = true, .fold = fold});
      const ps::OwnedSample sample = p.at(4);
      CHECK(is_stored({sample["image"].data, sample["image"].bytes()}));
      const auto error = error_of([&] { (void)verified.at(4); });
      const auto expected = error_of([&] { (void)(images(album) | ps::check({.verify = true})).at(4); });
      REQUIRE(error);
      REQUIRE(expected);
      CHECK(error->code() == ps::Errc::corrupt);
      CHECK(std::string(error->what()) == expected->what());
      CHECK(error->stage() == (how == Album::promises ? "read" : "decode_raw(image)"));
      for (const ps::OnError policy : {ps::OnError::drop, ps::OnError::replace, ps::OnError::mask}) {
        const auto with_policy = [&](const ps::Pipeline& some) {
          return some | ps::on_error({.policy = policy}) | ps::ragged("image") | ps::batch(7);
        };
        const auto one = collect(with_policy(verified), {.threads = 1});
        CHECK(collect(with_policy(verified), {.threads = 3}) == one);
        CHECK(one != collect(with_policy(p), {.threads = 1}));
      }
      // The error is the same where the image stays, and where it was looked at before.
      for (const ps::Pipeline& other :
           {images(album) | encode(true, "file"), images(album) | encode(true, "file") | crop(),
            images(album) | encode(true, "file") | ps::drop_fields({"image"}),
            images(album) | ps::filter("image", [](Bytes) { return true; }) | encode(true)}) {
        const auto found = error_of([&] { (void)(other | ps::check({.verify = true, .fold = fold})).at(4); });
        REQUIRE(found);
        CHECK(found->code() == ps::Errc::corrupt);
        CHECK(found->stage() == expected->stage());
      }
    }
  }
}

TEST_CASE("plan says what is encoded, and when stored files are kept") {
  const Album files(Album::files), promises(Album::promises);
  const auto plan = [](const ps::Pipeline& p) { return p.plan(); };
  const auto has = [](const std::string& text, const std::string& line) {
    INFO(text);
    CHECK(text.find(line) != std::string::npos);
  };
  has(plan(images(files) | crop() | encode()),
      "stage   decode_raw(image) + random_crop(image) + encode_raw(image): one operation; only the region that is "
      "needed "
      "is decoded, damage elsewhere is left to the source's checksum, if it has one -> image: u8[?]\n");
  has(plan(ps::from(promises) | encode(true, "file")),
      "stage   encode_raw(image); keep; stored files are kept -> file: u8[?]\n");
  has(plan(ps::from(promises) | encode(true) | ps::check({.verify = true})),
      "stage   encode_raw(image); keep; stored files are kept, once they are decoded to their end (.verify) -> image: "
      "u8[?]\n");
  has(plan(images(files) | encode(true, "a") | encode(false, "b") | crop()),
      "; to a: keep; stored files are kept; to b -> image: u8[5, 4, 3], a: u8[?], b: u8[?]\n");
  // The options are part of what is made.
  CHECK((ps::from(promises) | encode()).fingerprint() != (ps::from(promises) | encode(true)).fingerprint());
  CHECK((ps::from(promises) | encode(false, "a")).fingerprint() !=
        (ps::from(promises) | encode(false, "b")).fingerprint());
}

TEST_CASE("an encoder works without a pipeline") {
  const File file = fake::encode(3, 4, 3, [](int k) { return k * 5; });
  const ps::Pixels pixels{file.data() + 6, 12, {3, 4, 3}};
  const auto bytes = ps::encoded_bytes(fake::Encoder(), pixels);
  CHECK(std::memcmp(bytes.data(), file.data(), file.size()) == 0);
  CHECK(bytes.size() == file.size());
  const auto error = error_of([&] { (void)ps::encoded_bytes(fake::Encoder(), {file.data(), 2, {3, 1, 2}}); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::invalid_argument);
  CHECK(error->cause().find("encode_raw: the image is u8[3, 1, 2]") == 0);
  CHECK_THROWS_AS(ps::encoded_bytes(fake::Encoder(), {nullptr, 2, {3, 1, 3}}), ps::Error);
}
