// SPDX-License-Identifier: Apache-2.0
#include "look/contact_sheet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/loader.hpp>
#include <penstock/stages/fields.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/encode_png.hpp>
#include <penstock/transforms/image.hpp>

#include "console/output.hpp"
#include "stores/encoded_image.hpp"

namespace penstock::cli {

namespace {

using Rgb = std::array<std::uint8_t, 3>;

class Canvas {
 public:
  Canvas(std::int32_t height, std::int32_t width)
      : height_(height), width_(width), pixels_(static_cast<std::size_t>(height * width) * 3, 24) {}
  void set(std::int32_t y, std::int32_t x, Rgb colour) {
    std::ranges::copy(colour, &pixels_[static_cast<std::size_t>(y * width_ + x) * 3]);
  }
  void save(const std::string& file) const {
    const std::vector<std::byte> png = encode_png({pixels_.data(), std::ptrdiff_t{3} * width_, {height_, width_, 3}});
    replace_text(file, {reinterpret_cast<const char*>(png.data()), png.size()}, false, "inspect");
  }

 private:
  std::int32_t height_, width_;
  std::vector<std::uint8_t> pixels_;
};

// Colours of neighbouring numbers are far apart on the circle of hues.
Rgb class_colour(std::int64_t label) {
  const double hue = 6 * std::fmod(static_cast<double>(label) * 0.6180339887, 1.0);
  const auto channel = [&](double centre) {
    const double away = std::abs(std::remainder(hue - centre, 6.0));
    return static_cast<std::uint8_t>(60 + 180 * std::clamp(2 - away, 0.0, 1.0));
  };
  return {channel(0), channel(2), channel(4)};
}

std::vector<std::uint64_t> spread(std::uint64_t count, std::uint64_t size) {
  std::vector<std::uint64_t> positions(std::min(count, size));
  for (std::uint64_t i = 0; i < positions.size(); ++i) positions[i] = i * size / positions.size();
  return positions;
}

Pipeline sheet_pipeline(const InputStore& store, const SheetOptions& options) {
  const Schema schema = store.schema();
  const Field& field = schema.at(options.field);
  Pipeline pipeline =
      store.pipeline() | select(spread(options.count, store.size())) | on_error({.policy = OnError::mask});
  if (holds_encoded(schema, options.field)) {
    pipeline = pipeline | decode_image(options.field, options_for_any_image());
  } else if (field.dtype != DType::u8 || field.shape.rank() != 3 || (field.shape[2] != 1 && field.shape[2] != 3)) {
    throw Error(Errc::unsupported, "field \"" + options.field + "\" is " + std::string(to_string(field.dtype)) +
                                       field.shape.to_string() +
                                       "; a contact sheet draws encoded images, or u8[H, W, 1 or 3]");
  }
  pipeline =
      pipeline | resize_short(options.field, options.cell) | center_crop(options.field, {options.cell, options.cell});
  std::vector<std::string> fields{options.field};
  if (const auto slot = schema.find("label");
      slot && schema[*slot].dtype == DType::i64 && schema[*slot].shape.rank() == 0)
    fields.emplace_back("label");
  return pipeline | select_fields(fields) | batch(16);
}

// Reads and decodes a record again. Returns why the record can't be drawn.
std::string why_not(const InputStore& store, const std::string& field, std::uint64_t index) {
  std::string cause = "it can't be resized to the sheet's cells";
  try {
    InputStore::Reader reader = store.reader();
    const std::span<const std::byte> encoded = reader.read(index).bytes(field);
    PixelMemory pixels;
    if (holds_encoded(store.schema(), field))
      decode_whole(*any_image_decoder(options_for_any_image())->start(), encoded, pixels);
  } catch (const Error& error) {
    cause = error.cause();
  }
  const std::string file = store.file_of(index);
  return (file.empty() ? "key " + printable_key(store.key(index)) : printable(file)) + ": " + printable(cause);
}

}  // namespace

Sheet draw_contact_sheet(const InputStore& store, const SheetOptions& options) {
  const Pipeline pipeline = sheet_pipeline(store, options);
  const bool labels = pipeline.schema().find("label").has_value();
  const std::int32_t cell = options.cell, bar = labels ? std::max(2, cell / 16) : 0, gap = 2;
  const auto cells = static_cast<std::int32_t>(pipeline.size());
  const auto columns = std::max(1, static_cast<std::int32_t>(std::ceil(std::sqrt(static_cast<double>(cells)))));
  const std::int32_t rows = (cells + columns - 1) / columns;
  Canvas canvas(rows * (cell + bar + gap) + gap, columns * (cell + gap) + gap);

  if (cells == 0) {
    canvas.save(options.file);
    return {};
  }
  Loader loader(pipeline, {.epochs = 1});
  Sheet sheet;
  std::int32_t number = 0;
  for (Batch& batch : loader.epoch()) {
    const auto images = batch.view<const std::uint8_t, 4>(options.field);
    for (std::int64_t row = 0; row < images.extent(0); ++row, ++number) {
      const std::int32_t top = gap + number / columns * (cell + bar + gap),
                         left = gap + number % columns * (cell + gap);
      const bool good = batch.mask()[static_cast<std::size_t>(row)] != 0;
      ++sheet.samples;
      if (!good && sheet.bad++ == 0)
        sheet.first_bad = why_not(store, options.field, batch.indices()[static_cast<std::size_t>(row)]);
      for (std::int32_t y = 0; y < cell; ++y) {
        for (std::int32_t x = 0; x < cell; ++x) {
          const auto channel = [&](std::int64_t c) { return images(row, y, x, std::min(c, images.extent(3) - 1)); };
          const bool cross = std::abs(x - y) < 3 || std::abs(x + y - cell + 1) < 3;
          canvas.set(top + y, left + x,
                     good    ? Rgb{channel(0), channel(1), channel(2)}
                     : cross ? Rgb{220, 40, 40}
                             : Rgb{48, 48, 48});
        }
      }
      // A masked row has no label of its own: its values are zeros. So its bar is grey.
      const Rgb colour =
          labels && good ? class_colour(batch.view<const std::int64_t, 1>("label")(row)) : Rgb{48, 48, 48};
      for (std::int32_t y = cell; y < cell + bar; ++y)
        for (std::int32_t x = 0; x < cell; ++x) canvas.set(top + y, left + x, colour);
    }
    if (number == cells) break;  // because asking for another batch throws if all samples were bad
  }
  canvas.save(options.file);
  return sheet;
}

}  // namespace penstock::cli
