// SPDX-License-Identifier: Apache-2.0
#include "source/identity.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstddef>
#include <span>

#include <penstock/error.hpp>

namespace penstock::slide {

namespace {

class RecordsHash {
 public:
  RecordsHash() : state_(XXH3_createState()) {
    if (state_ == nullptr) throw Error(Errc::out_of_memory, "no memory to open slides");
    XXH3_64bits_reset(state_);
  }
  RecordsHash(const RecordsHash&) = delete;
  RecordsHash& operator=(const RecordsHash&) = delete;
  ~RecordsHash() { XXH3_freeState(state_); }

  template <class Numbers>
  void add(const Numbers& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    XXH3_64bits_update(state_, bytes.data(), bytes.size());
  }
  // Adds the text with its final zero. Without the zero, "ab" and "c" would give the hash of "a" and "bc".
  void add(const std::string& text) { XXH3_64bits_update(state_, text.c_str(), text.size() + 1); }
  void add(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add(text);
  }
  std::uint64_t value() const { return XXH3_64bits_digest(state_); }

 private:
  XXH3_state_t* state_;
};

void add_options(RecordsHash& hash, const Slides& options, std::size_t slides) {
  hash.add(std::array<std::int64_t, 10>{options.size, options.stride, options.left, options.top,
                                        static_cast<std::int64_t>(options.edges),
                                        static_cast<std::int64_t>(options.order), options.pad_color[0],
                                        options.pad_color[1], options.pad_color[2], static_cast<std::int64_t>(slides)});
}

void add_tissue(RecordsHash& hash, const SlideTissue& tissue) {
  if (tissue.by == SlideTissue::By::everywhere) return;
  hash.add(std::array<double, 6>{static_cast<double>(tissue.by), tissue.least, tissue.mpp,
                                 static_cast<double>(tissue.threshold), tissue.closing, tissue.least_area});
}

// Adds the rules of regions. `add_slide` adds the places that the rules leave, and the classes that these places show.
void add_regions(RecordsHash& hash, const SlideRegions& regions, const std::vector<std::string>& classes) {
  if (regions.folder.empty()) return;
  hash.add(std::array<double, 3>{regions.least, regions.mpp, static_cast<double>(regions.origin)});
  hash.add(regions.field);
  hash.add(regions.include);
  hash.add(regions.exclude);
  hash.add(classes);
}

void add_slide(RecordsHash& hash, const SlideFile& slide) {
  // An index does not keep the scale of a slide that can't be read. So the scale of such a slide is not added, and the
  // hash is the same with an index and without one.
  const Scale scale = slide.failure ? Scale() : slide.image.scale;
  // At coarser levels than level 0, OpenSlide's pixels differ from this library's. So `way` says which of the two reads
  // the slide.
  const std::uint64_t way = slide.failure ? 1 : !slide.found.why_openslide.empty() ? 2 : 0;
  hash.add(std::array<std::uint64_t, 7>{
      slide.sample.bytes, static_cast<std::uint64_t>(scale.width0), static_cast<std::uint64_t>(scale.height0),
      static_cast<std::uint64_t>(scale.width), static_cast<std::uint64_t>(scale.height),
      slide.failure ? 0 : slide.image.level_number, way});
  hash.add(slide.name);
  if (way == 2) hash.add(slide.found.openslide);
  if (!slide.settings.other_files.empty()) hash.add(std::array<std::uint64_t, 1>{slide.others.bytes});
  if (!slide.failure) hash.add(slide.image.level.tables);
  // The kept places are added, because which places show tissue depends on the slide's pixels and on the
  // micrometres per pixel.
  hash.add(slide.records.grid.kept());
  hash.add(slide.records.grid.listed());
  hash.add(slide.records.shown_classes.words());
  hash.add(slide.records.class_numbers);
  hash.add(slide.records.stain);
}

void add_column(RecordsHash& hash, const SlideColumn& column) {
  hash.add(column.field.name);
  for (const std::string& name : column.field.classes) hash.add(name);
  hash.add(column.whole);
  hash.add(column.numbers);
}

}  // namespace

std::uint64_t identity_of_records(const Slides& options, const std::vector<SlideFile>& slides,
                                  const std::vector<std::string>& region_classes,
                                  const std::vector<std::string>& groups, const std::vector<SlideColumn>& columns) {
  RecordsHash hash;
  add_options(hash, options, slides.size());
  add_tissue(hash, options.tissue);
  add_regions(hash, options.regions, region_classes);
  if (options.stain.method) hash.add(options.stain.field);
  for (const SlideFile& slide : slides) add_slide(hash, slide);
  hash.add(groups);
  for (const SlideColumn& column : columns) add_column(hash, column);
  return hash.value();
}

}  // namespace penstock::slide
