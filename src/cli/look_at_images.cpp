#include "look_at_images.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <span>

#include "encoded_image.hpp"

namespace penstock::cli {

struct LookAtImages::Shared {
  std::mutex mutex;
  OddImages found;
};

LookAtImages::LookAtImages() : shared_(std::make_shared<Shared>()) {}

void LookAtImages::operator()(Sample& sample, Context& context) const {
  const std::span<const std::byte> bytes = sample.bytes("image");
  if (!bytes.empty() && *image_kind(bytes) != '\0') return;
  const std::lock_guard lock(shared_->mutex);
  OddImages& found = shared_->found;
  found.first = found.empty + found.no_image == 0 ? context.index() : std::min(found.first, context.index());
  ++(bytes.empty() ? found.empty : found.no_image);
}

OddImages LookAtImages::found() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->found;
}

}  // namespace penstock::cli
