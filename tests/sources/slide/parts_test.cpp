// SPDX-License-Identifier: Apache-2.0
// A cohort in parts, for processes that share it.
#include <penstock/sources/slide_index.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// A record: its key, and all but its image.
std::string told(const SlideSource& source, std::uint64_t index) {
  std::string text = source.key(index);
  const OwnedSample sample = read_sample(source, index);
  for (const Field& field : source.schema())
    if (field.name != "image") text += " " + field.name + text_of(sample[field.name]);
  return text;
}

std::string failure_or_told(const SlideSource& source, std::uint64_t index) {
  try {
    return told(source, index);
  } catch (const Error& error) {
    return source.key(index) + ": " + error.cause();
  }
}

}  // namespace

TEST_CASE("runs of files have, one after the other, the records of all files") {
  const TempFolder folder;
  const std::vector<std::string> names{"a", "b", "c", "d", "e"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != "c")
      write_slide(folder / (names[i] + ".tif"),
                  {.width = 100 + 60 * static_cast<std::int32_t>(i), .height = 100, .per_unit = 10'000});
    // Each slide has another class; the one of a slide that can't be read counts, too.
    folder.write("regions/" + names[i] + ".json", as_geojson({{"class " + std::string(1, static_cast<char>('z' - i)),
                                                               {{{{0, 0}, {60, 0}, {60, 100}, {0, 100}}}}}}));
  }
  folder.write("c.tif", "no slide");
  folder.write("labels.csv", "slide,grade,kind\na,1,p\nb,2,q\nc,1,q\nd,3,r\n");
  Slides all{.files = folder / "?.tif",
             .size = 20,
             .labels = folder / "labels.csv",
             .unlisted = Slides::Unlisted::leave_out,
             .regions = {.folder = folder / "regions", .field = "shows"}};
  write_slide_index(all, folder / "all.tiles");
  for (const bool indexed : {false, true}) {
    if (indexed) all.index = folder / "all.tiles";
    const SlideSource whole(all);
    REQUIRE(whole.schema().at("shows").classes.size() == 5);  // four slides, and none
    for (std::size_t cut = 1; cut <= 6; ++cut) {
      CAPTURE(indexed, cut);
      std::uint64_t next = 0;
      for (std::size_t first = 0; first < names.size(); first += cut) {
        Slides some = all;
        some.first_file = first;
        some.file_count = cut;
        const SlideSource part(some);
        CHECK(part.schema() == whole.schema());
        REQUIRE(part.slides().size() == whole.slides().size());
        for (std::size_t i = 0; i < part.slides().size(); ++i) {
          const bool own = i >= first && i < first + cut;
          CHECK(part.slides()[i].passed_over != own);
          CHECK(part.slides()[i].name == whole.slides()[i].name);
          if (!own) CHECK(part.slides()[i].records == 0);
        }
        REQUIRE(next + part.size() <= whole.size());
        for (std::uint64_t i = 0; i < part.size(); ++i, ++next)
          REQUIRE(failure_or_told(part, i) == failure_or_told(whole, next));
        if (part.size() != 0 && cut < 4)
          CHECK(std::ranges::any_of(part.notes(), [](const std::string& note) {
            return note.find("passed over: not among those that are opened") != std::string::npos;
          }));
      }
      CHECK(next == whole.size());
    }
  }
  Slides none = all;
  none.file_count = 0;
  CHECK(SlideSource(none).size() == 0);
}
