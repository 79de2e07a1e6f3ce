// SPDX-License-Identifier: Apache-2.0
// Photographs of 12 megapixels that become 224 x 224: decoded at the scale that suits, and in full.
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image/crop.hpp>
#include <penstock/transforms/image/random_resized_crop.hpp>
#include <penstock/transforms/image/resize.hpp>

#include "../decoders_beside.hpp"
#include "../pictures.hpp"
#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

using Files = std::vector<std::vector<std::byte>>;

Files photographs(const Settings& settings) {
  const Pictures pictures(settings.photographs);
  Files files;
  for (std::uint64_t i = 0; i < (settings.quick ? 1u : 8u); ++i) files.push_back(pictures.large_jpeg(i));
  return files;
}

// Files in memory.
class FilesInMemory {
 public:
  explicit FilesInMemory(const Files& files) : files_(&files) {}
  std::uint64_t size() const { return files_->size(); }
  Schema schema() const { return {{"image", DType::u8, Shape{dynamic}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const std::vector<std::byte>& file = (*files_)[i];
    out.view(0, file.data(), Shape{static_cast<std::int64_t>(file.size())});
  }

 private:
  const Files* files_;
};

template <class Stages>
Row scaled_against_full(const RowSpec& spec, const Settings& settings, const Files& files, const Stages& stages) {
  const Executor executor(1);
  const std::uint64_t epochs = settings.quick ? 1 : 3;
  const auto timed = [&](JpegOptions::Scale scale) {
    const Pipeline pipeline = stages(from(FilesInMemory(files)) | decode_jpeg("image", {.scale = scale}));
    Timing timing = time_loader(pipeline, executor, 1, epochs);
    timing.value = static_cast<double>(files.size() * epochs) / timing.value;
    return timing;
  };
  Row row = compare(
      spec, settings, [&] { return timed(JpegOptions::Scale::fit); }, [&] { return timed(JpegOptions::Scale::full); });
  std::size_t bytes = 0;
  for (const auto& file : files) bytes += file.size();
  row.notes.push_back(std::to_string(files.size()) + " files, " + std::to_string(bytes / files.size()) + " bytes each");
  return row;
}

}  // namespace

Row jpeg_scaled(const RowSpec& spec, const Settings& settings) {
  const Files files = photographs(settings);
  Row row = scaled_against_full(spec, settings, files, [](const auto& images) {
    return images | resize_short("image", 256) | center_crop("image", {224, 224}) | batch(1);
  });
  note_decoders_beside(row, settings, "small", files, ".jpg");
  return row;
}

Row jpeg_scaled_random(const RowSpec& spec, const Settings& settings) {
  return scaled_against_full(spec, settings, photographs(settings), [](const auto& images) {
    return images | random_resized_crop("image", {224, 224}) | batch(1);
  });
}

}  // namespace penstock::bench
