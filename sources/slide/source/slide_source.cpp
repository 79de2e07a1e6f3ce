// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "file/errors.hpp"
#include "source/region_classes.hpp"
#include "source/source_impl.hpp"
#include "source/source_notes.hpp"

namespace penstock {

using slide::Level;
using slide::SlideFile;

namespace {

// Appends `before`, and the number in at least `digits` digits. `digits` is at most 20.
void append_number(std::string& text, char before, std::int64_t number, std::size_t digits) {
  std::array<char, 20> written{};
  char* const end = std::to_chars(written.data(), written.data() + written.size(), number).ptr;
  const auto count = static_cast<std::size_t>(end - written.data());
  text += before;
  if (count < digits) text.append(digits - count, '0');
  text.append(written.data(), count);
}

}  // namespace

const char* to_string(SlideCodec codec) noexcept {
  switch (codec) {
    case SlideCodec::jpeg:
      return "JPEG";
    case SlideCodec::jpeg2000:
      return "JPEG 2000";
    case SlideCodec::uncompressed:
      return "uncompressed";
    case SlideCodec::deflate:
      return "deflate";
    case SlideCodec::lzw:
      return "LZW";
    case SlideCodec::packbits:
      return "PackBits";
    case SlideCodec::zstd:
      return "Zstandard";
    case SlideCodec::openslide:
      return "OpenSlide";
  }
  return "unknown";
}

SlideSource::SlideSource(Slides options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

SlideSource::SlideSource(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

std::uint64_t SlideSource::size() const noexcept { return impl_->size; }
Schema SlideSource::schema() const { return impl_->schema; }
std::uint64_t SlideSource::blocks() const noexcept { return impl_->blocks; }
const Slides& SlideSource::options() const noexcept { return impl_->options; }
const std::vector<SlideInfo>& SlideSource::slides() const noexcept { return impl_->infos; }

std::uint64_t SlideSource::block_bytes(std::uint64_t block) const {
  return impl_->slide_of_block(block).image.level.pixel_bytes();
}

void SlideSource::blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const {
  const Impl::Record record = impl_->record(index);
  const SlideFile& slide = *record.slide;
  if (slide.records.blocks == 0) return;
  const Level& level = slide.image.level;
  const slide::SlideBox source = slide::source_box(slide, record.box);
  const slide::TouchedTiles tiles = tiles_of(level, source);
  for (std::uint64_t row = tiles.row; row < tiles.row + tiles.rows; ++row)
    for (std::uint64_t column = tiles.column; column < tiles.column + tiles.columns; ++column)
      ids.push_back(slide.records.first_block + row * level.tile_columns() + column);
}

void SlideSource::load(std::uint64_t block, std::span<std::byte> bytes) const {
  const SlideFile& slide = impl_->slide_of_block(block);
  const Level& level = slide.image.level;
  const std::uint64_t tile = block - slide.records.first_block;
  const slide::OpenedSlide open = impl_->readers->tiles.open(slide);
  slide::TilePlace place;
  slide::TileReader::find(open, tile, {&place, 1});
  impl_->readers->tiles.decode(open, tile, place, {0, 0, level.tile_height, level.tile_width}, true, bytes.data(),
                               std::ptrdiff_t{level.tile_width} * 3, nullptr);
}

void SlideSource::read(std::uint64_t index, std::span<const std::span<const std::byte>> blocks,
                       SampleBuilder& out) const {
  const Impl::Record record = impl_->record(index);
  const SlideFile& slide = *record.slide;
  if (slide.failure) throw Error(*slide.failure);
  out.promise(Impl::image, slide::PromisedTile(*impl_->readers, slide, impl_->rules, record.box, blocks));
  out.scalar<std::int64_t>(Impl::slide_number, static_cast<std::int64_t>(slide.number));
  out.scalar<std::int64_t>(Impl::x, record.x);
  out.scalar<std::int64_t>(Impl::y, record.y);
  std::size_t slot = Impl::first_more;
  if (impl_->is_stain_field(slot))
    std::ranges::copy(slide.records.stain,
                      out.emplace<float, 1>(slot++, {static_cast<std::int64_t>(slide.records.stain.size())}).begin());
  if (impl_->is_region_field(slot)) out.scalar<std::int64_t>(slot++, slide::shown_class(slide, record.number));
  for (const slide::SlideColumn& column : impl_->table.columns) {
    if (column.numbers.empty())
      out.scalar<std::int64_t>(slot++, column.whole[slide.number]);
    else
      out.scalar<float>(slot++, column.numbers[slide.number]);
  }
}

std::string SlideSource::file() const {
  return impl_->options.files.empty() ? impl_->options.paths.front() : impl_->options.files;
}
std::string SlideSource::file_of(std::uint64_t index) const { return impl_->record(index).slide->path; }

std::string SlideSource::key(std::uint64_t index) const {
  const Impl::Record record = impl_->record(index);
  const std::string& name = record.slide->name;
  const auto digits = static_cast<std::size_t>(record.slide->records.digits);
  std::string key;
  key.reserve(name.size() + 2 * digits + 2);
  key += name;
  append_number(key, '/', record.y, digits);
  append_number(key, '_', record.x, digits);
  return key;
}

SlidePlace SlideSource::place(std::uint64_t index) const {
  const Impl::Record record = impl_->record(index);
  return {record.slide->number, record.x, record.y, record.box.x, record.box.y};
}

std::uint64_t SlideSource::identity() const noexcept { return impl_->identity; }

std::uint64_t SlideSource::revision() const noexcept {
  std::uint64_t hash = 0;
  for (const SlideFile& slide : impl_->slides)
    hash = (hash * 0x9e3779b97f4a7c15 + slide.sample.hash) ^ slide.others.hash;
  return hash;
}

std::vector<std::uint64_t> SlideSource::block_ends() const {
  // A shuffle takes at most this many blocks.
  constexpr std::uint64_t most = std::uint64_t{1} << 27;
  std::uint64_t count = 0;
  for (const SlideFile& slide : impl_->slides) count += slide.records.grid.ends();
  if (count > most)
    throw Error(Errc::limit_exceeded, "the slides have " + std::to_string(count) + " rows, or squares, of places; " +
                                          std::to_string(most) + " can be told")
        .with_source(slide::source_name);
  std::vector<std::uint64_t> ends;
  ends.reserve(static_cast<std::size_t>(count));
  for (const SlideFile& slide : impl_->slides) slide.records.grid.append_ends(slide.records.first, ends);
  return ends;
}

std::optional<std::vector<std::int64_t>> SlideSource::labels(std::string_view field) const {
  const auto slot = impl_->schema.find(field);
  if (!slot || *slot == Impl::image || impl_->is_stain_field(*slot)) return std::nullopt;
  const slide::SlideColumn* const column = impl_->column_of(*slot);
  const bool is_region = impl_->is_region_field(*slot);
  if (column != nullptr && column->whole.empty()) return std::nullopt;
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(impl_->size));
  for (const SlideFile& slide : impl_->slides)
    for (std::uint64_t i = 0; i < slide.records.grid.size(); ++i) {
      if (is_region)
        values.push_back(slide::shown_class(slide, i));
      else if (column != nullptr)
        values.push_back(column->whole[slide.number]);
      else if (*slot == Impl::slide_number)
        values.push_back(static_cast<std::int64_t>(slide.number));
      else
        values.push_back(*slot == Impl::x ? impl_->record(slide.records.first + i).x
                                          : impl_->record(slide.records.first + i).y);
    }
  return values;
}

std::vector<Group> SlideSource::groups() const {
  std::vector<Group> groups;
  for (const SlideFile& slide : impl_->slides)
    if (slide.records.grid.size() != 0)
      groups.push_back({impl_->groups[slide.number], slide.records.first + slide.records.grid.size()});
  return groups;
}

std::vector<std::string> SlideSource::notes() const {
  return slide::notes_of(*impl_, impl_->slides, impl_->unknown_classes);
}
std::vector<std::string> SlideSource::left_out() const {
  return slide::left_out_of(*impl_, impl_->slides, impl_->unknown_classes);
}

SlideSource SlideSource::only(std::string_view field, std::initializer_list<std::int64_t> values) const {
  const auto slot = impl_->schema.find(field);
  const slide::SlideColumn* const column = slot ? impl_->column_of(*slot) : nullptr;
  const bool known = slot && (*slot == Impl::slide_number || impl_->is_region_field(*slot) ||
                              (column != nullptr && !column->whole.empty()));
  if (!known)
    throw Error(Errc::invalid_argument, "there is no view by \"" + printable(field) +
                                            "\": only by `slide`, a column of whole numbers or classes, and "
                                            "`regions.field`")
        .with_source(slide::source_name);
  return SlideSource(std::make_shared<const Impl>(*impl_, *slot, std::span(values.begin(), values.size())));
}

SlideSource SlideSource::only(std::string_view field, std::initializer_list<std::string_view> names) const {
  const auto slot = impl_->schema.find(field);
  std::vector<std::int64_t> values;
  for (const std::string_view name : names) {
    const ClassNames classes = slot ? impl_->schema[*slot].classes : ClassNames();
    const auto at = std::find(classes.begin(), classes.end(), name);
    if (at == classes.end())
      throw Error(Errc::not_found, "the field \"" + printable(field) + "\" has no class \"" + printable(name) + "\"")
          .with_source(slide::source_name);
    values.push_back(at - classes.begin());
  }
  if (!slot) return only(field, std::initializer_list<std::int64_t>{});
  return SlideSource(std::make_shared<const Impl>(*impl_, *slot, std::span(std::as_const(values))));
}

}  // namespace penstock
