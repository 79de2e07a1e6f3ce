// SPDX-License-Identifier: Apache-2.0
// Two views of one picture: equal to two decodes, bit for bit, whatever stands around them.
#include "support/catch.hpp"

#include <penstock/join.hpp>
#include <penstock/stages/cache.hpp>

#include "core/chain/album.hpp"

using namespace album;

namespace {

// The album's picture twice: as two fields of the same record.
struct TwoFields {
  Album album;
  std::uint64_t size() const { return album.count; }
  ps::Schema schema() const {
    const ps::Field image = album.schema().at("image");
    return {image, {"second", image.dtype, image.shape}};
  }
  std::string name() const { return "album"; }
  std::string key(std::uint64_t i) const { return album.key(i); }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    for (const char* field : {"image", "second"}) {
      if (album.how == Album::promises) {
        out.promise(field, Kept(album, i));
      } else if (album.how == Album::files) {
        out.view(field, std::as_bytes(std::span((*album.file)[i])));
      } else {
        const auto bytes = std::as_bytes(std::span((*album.file)[i]));
        const ps::ImageShape shape = fake::Decoding().open(bytes);
        const auto to = out.emplace<std::uint8_t, 3>(field, {shape.height, shape.width, 3});
        std::memcpy(to.data(), bytes.data() + 6, to.size());
      }
    }
  }
};

ps::Stage crop_of(const char* field, int height, int width) {
  return fake::image_stage(field, fake::RandomCrop{height, width});
}
ps::Stage darker(const char* field) {
  return ps::map(field,
                 [](ps::View<std::uint8_t, 3> image) {
                   for (std::uint8_t& v : image.flat()) v = static_cast<std::uint8_t>(v / 2);
                 },
                 {.version = 1});
}

using Stages = std::function<ps::Pipeline(ps::Pipeline)>;

}  // namespace

TEST_CASE("two views of one picture are two decodes of it, bit for bit") {
  const Watchdog dog(120s);
  const std::pair<const char*, Stages> variants[] = {
      {"two crops", [](const ps::Pipeline& p) { return p | crop_of("image", 5, 4) | crop_of("second", 3, 6); }},
      {"the copy alone",
       [](const ps::Pipeline& p) { return p | crop_of("second", 5, 4) | ps::drop_fields({"image"}); }},
      {"the original alone",
       [](const ps::Pipeline& p) { return p | crop_of("image", 5, 4) | ps::drop_fields({"second"}); }},
      {"changed in place",
       [](const ps::Pipeline& p) { return p | darker("image") | crop_of("image", 5, 4) | crop_of("second", 5, 4); }},
      {"the copy changed in place",
       [](const ps::Pipeline& p) { return p | darker("second") | crop_of("image", 5, 4) | crop_of("second", 5, 4); }},
      {"both changed in place",
       [](const ps::Pipeline& p) {
         return p | darker("second") | darker("image") | crop_of("image", 5, 4) | crop_of("second", 5, 4) |
                darker("image");
       }},
      {"changed in place after its crop",
       [](const ps::Pipeline& p) { return p | crop_of("image", 5, 4) | crop_of("second", 5, 4) | darker("image"); }},
      {"flips",
       [](const ps::Pipeline& p) {
         return p | crop_of("image", 5, 4) | maybe_flip("image") | maybe_flip("second") | crop_of("second", 4, 4);
       }},
      {"a cache between",
       [](const ps::Pipeline& p) {
         return p | darker("second") | ps::cache({.max_bytes = 1 << 20}) | crop_of("image", 5, 4) |
                crop_of("second", 4, 4);
       }},
  };
  for (const auto how : {Album::pixels, Album::promises, Album::files})
    for (const bool varies : {false, true})
      for (const auto& [what, stages] : variants)
        for (const ps::CheckOptions check :
             {ps::CheckOptions{}, ps::CheckOptions{.verify = true}, ps::CheckOptions{.fold = false}}) {
          CAPTURE(what, how, varies, check.verify, check.fold);
          const Album album(how, varies);
          const auto decoded = [&](const ps::Pipeline& p, const char* field) {
            return how == Album::files ? p | fake::decode(field) : p;
          };
          const auto run = [&](const ps::Pipeline& p) {
            return collect(stages(p | ps::seed(4) | ps::check(check)) | ps::batch(7), {.threads = 2, .epochs = 2}, 2);
          };
          const auto copied =
              run(decoded(ps::from(album), "image") | ps::drop_fields({"label"}) | ps::copy_field("image", "second"));
          const std::uint64_t decodes = album.counts->decodes;
          const auto twice = run(decoded(decoded(ps::from(TwoFields{album}), "image"), "second"));
          REQUIRE(copied == twice);
          if (how == Album::promises) CHECK(decodes <= 2 * album.count);
        }
}

TEST_CASE("a copy that no stage makes again has its own row, whatever becomes of the original") {
  const Watchdog dog(60s);
  const Album album(Album::pixels);
  for (const bool original : {false, true}) {
    const ps::Pipeline p =
        images(album) | ps::copy_field("image", "second") | darker(original ? "image" : "second") | ps::batch(8);
    ps::Loader loader(p, {.threads = 2, .epochs = 1});
    for (ps::Batch& batch : loader.epoch()) {
      const auto changed = batch.view<std::uint8_t, 4>(original ? "image" : "second"),
                 kept = batch.view<std::uint8_t, 4>(original ? "second" : "image");
      for (std::uint64_t i = 0; i < changed.size(); ++i) REQUIRE(changed.data()[i] == kept.data()[i] / 2);
    }
  }
}

TEST_CASE("a copy is written to its row at once") {
  const Watchdog dog(60s);
  const Album album(Album::files);
  ps::Loader loader(images(album) | crop_of("image", 8, 8) | ps::drop_fields({"label"}) |
                        ps::copy_field("image", "second") | crop_of("image", 5, 4) | ps::batch(8),
                    {.threads = 2, .epochs = 1});
  (void)collect(loader);
  CHECK(loader.report().copied_bytes == 0);
}

TEST_CASE("copies of numbers, of values of any length, and in parts and children") {
  const Watchdog dog(60s);
  const Album varies(Album::pixels, true);
  const ps::Pipeline ragged = images(varies) | ps::ragged("image") | ps::copy_field("image", "second") |
                              ps::copy_field("label", "target") | darker("image") | ps::batch(8);
  ps::Loader loader(ragged, {.threads = 2, .epochs = 1});
  for (ps::Batch& batch : loader.epoch())
    for (std::uint64_t row = 0; row < batch.size(); ++row) {
      const auto image = batch.ragged("image").view<std::uint8_t, 3>(row),
                 second = batch.ragged("second").view<std::uint8_t, 3>(row);
      REQUIRE(image.size() == second.size());
      for (std::uint64_t i = 0; i < image.size(); ++i) REQUIRE(image.data()[i] == second.data()[i] / 2);
      CHECK(batch.view<std::int64_t, 1>("label")(static_cast<std::int64_t>(row)) ==
            batch.view<std::int64_t, 1>("target")(static_cast<std::int64_t>(row)));
    }
  const Album album(Album::promises);
  const auto stages = [](const ps::Pipeline& p) {
    return p | ps::copy_field("image", "second") | crop_of("second", 5, 4) | darker("image");
  };
  const auto plain = collect(stages(images(album)) | ps::batch(8), {.threads = 2, .epochs = 1});
  const auto inside = collect(ps::from(ps::share(images(album) | ps::copy_field("image", "second"))) |
                                  crop_of("second", 5, 4) | darker("image") | ps::batch(8),
                              {.threads = 2, .epochs = 1});
  CHECK(inside == plain);
  const ps::Pipeline children = images(album) | ps::copy_field("image", "second") | Twice{} | crop_of("second", 5, 4) |
                                darker("image") | ps::batch(8);
  CHECK(collect(children, {.threads = 1, .epochs = 1}) == collect(children, {.threads = 4, .epochs = 1}));
}

TEST_CASE("a copy that a later stage declares again, and leaves as it is, keeps its value") {
  const Watchdog dog(60s);
  struct MayCut {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"y", ps::DType::i64, {ps::dynamic}}); }
    std::string name() const { return "may_cut"; }
    void operator()(ps::Sample& sample, ps::Context&) const {
      if (sample.view<const std::int64_t, 1>("y").extent(0) > 5) sample.emplace<std::int64_t, 1>("y", {5});
    }
  };
  struct Three {
    std::uint64_t size() const { return 40; }
    ps::Schema schema() const { return {{"x", ps::DType::i64, {3}}}; }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      for (std::int64_t& v : out.emplace<std::int64_t, 1>("x", {3})) v = static_cast<std::int64_t>(i);
    }
  };
  const auto away = ps::map("x", [](ps::View<std::int64_t, 1> x) { std::ranges::fill(x.flat(), -1); });
  const ps::Pipeline copied = ps::from(Three{}) | ps::copy_field("x", "y");
  for (const ps::Pipeline& p : {copied | MayCut{} | away, copied | away | MayCut{}})
    for (const ps::Stage& rows : {ps::ragged("y"), ps::pad("y", {.to = 4})}) {
      ps::Loader loader(p | rows | ps::batch(4), {.threads = 2, .epochs = 1});
      for (ps::Batch& batch : loader.epoch())
        for (std::uint64_t row = 0; row < batch.size(); ++row) {
          CHECK(batch.view<std::int64_t, 2>("x")(static_cast<std::int64_t>(row), 0) == -1);
          const auto wanted = static_cast<std::int64_t>(batch.indices()[row]);
          if (p.schema().at("y").collate.kind == ps::Collate::Kind::dense) {
            const bool ragged = loader.pipeline().schema().at("y").collate.kind == ps::Collate::Kind::ragged;
            CHECK((ragged ? batch.ragged("y").view<std::int64_t, 1>(row)(2)
                          : batch.view<std::int64_t, 2>("y")(static_cast<std::int64_t>(row), 2)) == wanted);
          }
        }
    }
}

TEST_CASE("a copy has a name of its own") {
  const Album album(Album::pixels);
  const auto why = [&](const char* from, const char* to) {
    const auto error = error_of([&] { (void)(images(album) | ps::copy_field(from, to)); });
    return error ? error->what() : std::string();
  };
  CHECK(why("image", "label").find("there is a field \"label\" already") != std::string::npos);
  CHECK(why("nothing", "b").find("there is no field \"nothing\"") != std::string::npos);
  CHECK(why("image", "").find("say the copy's name") != std::string::npos);
  CHECK((images(album) | ps::copy_field("label", "target")).plan().find("copy_field(label) -> target: i64[]") !=
        std::string::npos);
  CHECK((images(album) | ps::copy_field("label", "a")).fingerprint() !=
        (images(album) | ps::copy_field("label", "b")).fingerprint());
}
