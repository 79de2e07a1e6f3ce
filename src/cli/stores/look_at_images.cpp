// SPDX-License-Identifier: Apache-2.0
#include "stores/look_at_images.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <penstock/extend/image_decoder.hpp>

#include "console/output.hpp"
#include "stores/encoded_image.hpp"

namespace penstock::cli {

struct LookAtImages::Shared {
  explicit Shared(FilesSource source)
      : files(std::move(source)), decoding(any_image_decoder(options_for_any_image())->start()) {}
  FilesSource files;
  std::mutex mutex;
  std::unique_ptr<ImageDecoding> decoding;
  std::map<std::string, bool> lacking;  // kinds of images, and whether the library has no decoder for them
  OddImages found;
};

void UndecodedImages::add(const std::string& kind, std::uint64_t index) {
  constexpr std::size_t most = 3;
  ++kinds[kind];
  some.insert(std::ranges::upper_bound(some, index), index);
  if (some.size() > most) some.pop_back();
}

LookAtImages::LookAtImages(const FilesSource& files) : shared_(std::make_shared<Shared>(files)) {}

void LookAtImages::operator()(Sample& sample, Context& context) const {
  const std::span<const std::byte> bytes = sample.bytes("image");
  const std::string kind = image_kind(bytes);
  if (kind == "jpeg" || kind == "png" || kind == "tiff" || kind == "webp") return;
  const std::lock_guard lock(shared_->mutex);
  OddImages& found = shared_->found;
  if (kind.empty()) {
    found.first = found.empty + found.no_image == 0 ? context.index() : std::min(found.first, context.index());
    ++(bytes.empty() ? found.empty : found.no_image);
    return;
  }
  const auto [known, is_new] = shared_->lacking.try_emplace(kind);
  if (is_new) known->second = lacks_decoder(*shared_->decoding, bytes);
  if (!known->second) return;
  ++found.undecoded[kind];
  if (undecoded_kind(shared_->files.path(context.index())) != kind) found.misnamed.add(kind, context.index());
}

OddImages LookAtImages::found() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->found;
}

UndecodedImages undecoded_by_name(const FilesSource& files) {
  UndecodedImages images;
  for (std::uint64_t i = 0; i < files.size(); ++i)
    if (const std::string kind = undecoded_kind(files.path(i)); !kind.empty()) images.add(kind, i);
  return images;
}

std::string undecoded_text(const UndecodedImages& images, const FilesSource& files) {
  if (images.kinds.empty()) return "";
  std::uint64_t count = 0;
  std::string kinds, names;
  for (const auto& [kind, of_kind] : images.kinds) {
    count += of_kind;
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", with_commas(of_kind), kind);
  }
  for (const std::uint64_t index : images.some) names += (names.empty() ? "" : ", ") + printable(files.path(index));
  if (count > images.some.size()) names += ", ...";
  return fmt::format(
      "{} of a kind that nothing here decodes: {} ({}); stored as {}: make JPEG or PNG of {} and pack "
      "again, or decode {} with a decoder of your own",
      counted(count, "file") + (count == 1 ? " is" : " are"), kinds, names, count == 1 ? "it is" : "they are",
      count == 1 ? "it" : "them", count == 1 ? "it" : "them");
}

}  // namespace penstock::cli
