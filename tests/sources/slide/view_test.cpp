// SPDX-License-Identifier: Apache-2.0
// Views of slides by what their records show.
#include <penstock/sources/slide_index.hpp>

#include <map>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::vector<std::string> keys_of(const SlideSource& source) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < source.size(); ++i) keys.push_back(source.key(i));
  return keys;
}

}  // namespace

TEST_CASE("a view has the records that have a value, as they are in the whole") {
  const TempFolder folder;
  const std::vector<std::string> names{"a", "b", "c", "d"};
  for (const std::string& name : names) {
    write_slide(folder / (name + ".tif"), {.width = 260, .height = 200, .per_unit = 10'000});
    folder.write("regions/" + name + ".json", as_geojson({{"x", {{{{0, 0}, {130, 0}, {130, 200}, {0, 200}}}}},
                                                          {"y", {{{{90, 50}, {260, 50}, {260, 120}, {90, 120}}}}}}));
  }
  folder.write("labels.csv", "slide,grade,kind,score\na,1,p,.5\nb,2,q,.25\nc,1,q,2\nd,3,p,1\n");
  for (const SlideOrder order : {SlideOrder::rows, SlideOrder::squares})
    for (const bool listed : {false, true}) {
      CAPTURE(static_cast<int>(order), listed);
      Slides slides{.files = folder / "?.tif",
                    .size = 20,
                    .labels = folder / "labels.csv",
                    .order = order,
                    .regions = {.folder = folder / "regions", .field = "shows"}};
      if (listed)
        slides.coords = {{.slide = "a", .at = {{0, 0}, {30, 60}, {200, 70}}}, {.slide = "c", .at = {{100, 60}}}};
      const SlideSource all(slides);
      const auto check = [&](const SlideSource& view, std::string_view field, const std::vector<std::int64_t>& values) {
        const auto labels = *all.labels(field);
        std::vector<std::string> expected;
        std::vector<std::int64_t> wanted;
        for (std::uint64_t i = 0; i < all.size(); ++i)
          if (std::ranges::find(values, labels[i]) != values.end()) {
            expected.push_back(all.key(i));
            wanted.push_back(labels[i]);
          }
        CHECK(keys_of(view) == expected);
        CHECK(*view.labels(field) == wanted);
        CHECK((view.identity() == all.identity()) == (view.size() == all.size()));
        CHECK(view.schema() == all.schema());
        if (view.size() == 0) return;
        CHECK(view.block_ends().back() == view.size());
        for (std::uint64_t i = 0; i < view.size(); i += 7) {
          const OwnedSample sample = read_sample(view, i);
          CHECK(number_of(sample, field) == wanted[i]);
        }
      };
      check(all.only("slide", {1, 2}), "slide", {1, 2});
      check(all.only("grade", {1}), "grade", {1});
      check(all.only("kind", {"q"}), "kind", {1});
      check(all.only("shows", {"x", ""}), "shows", {0, 1});
      check(all.only("shows", {2}), "shows", {2});
      const SlideSource both = all.only("grade", {1}).only("shows", {"y"});
      const auto grades = *all.labels("grade"), shows = *all.labels("shows");
      std::vector<std::string> expected;
      for (std::uint64_t i = 0; i < all.size(); ++i)
        if (grades[i] == 1 && shows[i] == 2) expected.push_back(all.key(i));
      CHECK_FALSE(expected.empty());
      CHECK(keys_of(both) == expected);
      // An index has the same views.
      write_slide_index(slides, folder / "x.tiles");
      slides.index = folder / "x.tiles";
      CHECK(SlideSource(slides).only("grade", {1}).only("shows", {"y"}).identity() == both.identity());

      // Classes in equal parts, whatever there is of them.
      const std::uint64_t least = std::min(all.only("shows", {"x"}).size(), all.only("shows", {"y"}).size());
      const Pipeline mixed = mix({{all.only("shows", {"x"}), 1}, {all.only("shows", {"y"}), 1}}, {.count = 2 * least}) |
                             select_fields({"shows"}) | batch(10);
      Loader loader(mixed, {.threads = 2, .epochs = 1});
      std::map<std::int64_t, std::uint64_t> drawn;
      while (const auto rows = loader.next()) {
        const auto values = rows->view<const std::int64_t, 1>("shows");
        for (std::int64_t row = 0; row < values.extent(0); ++row) ++drawn[values(row)];
      }
      CHECK(drawn == std::map<std::int64_t, std::uint64_t>{{1, least}, {2, least}});
    }
}

TEST_CASE("slides that can't be read stay in views, and fields that tell no class are refused") {
  const TempFolder folder;
  write_slide(folder / "a.tif", {.width = 100, .height = 100, .per_unit = 10'000});
  folder.write("b.tif", "no slide");
  folder.write("regions/a.json", as_geojson({{"x", {{{{0, 0}, {50, 0}, {50, 100}, {0, 100}}}}}}));
  folder.write("regions/b.json", "[]");
  folder.write("labels.csv", "slide,grade,score\na,1,.5\nb,2,1\n");
  const SlideSource all({.files = folder / "?.tif",
                         .size = 50,
                         .labels = folder / "labels.csv",
                         .regions = {.folder = folder / "regions", .field = "shows"}});
  CHECK(all.size() == 5);
  CHECK(all.only("grade", {1}).size() == 4);
  CHECK(all.only("grade", {2}).size() == 1);
  CHECK(all.only("shows", {"x"}).size() == 3);
  CHECK(all.only("grade", {7}).size() == 0);
  // What a view leaves out, neither tissue nor regions did.
  CHECK(all.only("grade", {7}).left_out() == all.left_out());
  CHECK(all.only("shows", {"x"}).left_out() == all.left_out());
  const auto code = [&](auto... of) { return code_of([&] { (void)all.only(of...); }); };
  for (const char* field : {"image", "x", "y", "score", "nothing"})
    CHECK(code(field, std::initializer_list<std::int64_t>{1}) == Errc::invalid_argument);
  CHECK(code("shows", std::initializer_list<std::string_view>{"z"}) == Errc::not_found);
  CHECK(code("grade", std::initializer_list<std::string_view>{"1"}) == Errc::not_found);
}
