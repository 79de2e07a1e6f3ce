// SPDX-License-Identifier: Apache-2.0
#include "stores/rewrite_jpegs.hpp"

#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/transforms/seekable_jpeg.hpp>

namespace penstock::cli {

struct RewriteJpegs::Shared {
  std::mutex mutex;
  RewriteCounts counts;
};

RewriteJpegs::RewriteJpegs() : shared_(std::make_shared<Shared>()) {}

void RewriteJpegs::operator()(Sample& sample, Context& context) const {
  const std::span<const std::byte> bytes = sample.bytes("image");
  if (bytes.size() < 2 || bytes[0] != std::byte{0xff} || bytes[1] != std::byte{0xd8}) {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->counts.not_jpeg;
    return;
  }
  try {
    const std::vector<std::byte> rewritten = seekable_jpeg(bytes);
    const std::size_t before = bytes.size();
    const auto out = sample.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(rewritten.size())});
    std::memcpy(out.data(), rewritten.data(), rewritten.size());
    const std::lock_guard lock(shared_->mutex);
    ++shared_->counts.rewritten;
    shared_->counts.bytes_before += before;
    shared_->counts.bytes_after += rewritten.size();
  } catch (const Error& error) {
    if (!error.sample_scoped()) throw;
    const std::lock_guard lock(shared_->mutex);
    RewriteCounts& counts = shared_->counts;
    if (counts.refused++ != 0 && counts.first_refused < context.index()) return;
    counts.first_refused = context.index();
    counts.refusal = error.cause();
  }
}

RewriteCounts RewriteJpegs::counts() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->counts;
}

}  // namespace penstock::cli
