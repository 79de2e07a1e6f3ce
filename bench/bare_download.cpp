// SPDX-License-Identifier: Apache-2.0
#include "bare_download.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace penstock::bench {

BareDownload::BareDownload(std::vector<File> files, std::size_t range_bytes, unsigned connections)
    : files_(std::move(files)), slots_(connections), multi_(curl_multi_init()) {
  if (multi_ == nullptr) throw std::runtime_error("curl_multi_init failed");
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections));
  for (std::size_t file = 0; file < files_.size(); ++file)
    for (std::uint64_t offset = 0; offset < files_[file].bytes; offset += range_bytes)
      ranges_.push_back(
          {file, offset, static_cast<std::size_t>(std::min<std::uint64_t>(range_bytes, files_[file].bytes - offset))});
  for (Slot& slot : slots_) {
    slot.memory = std::make_unique<std::byte[]>(range_bytes);  // cleared, so no round pays for its page faults
    slot.handle = curl_easy_init();
    if (slot.handle == nullptr) throw std::runtime_error("curl_easy_init failed");
    curl_easy_setopt(slot.handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(slot.handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(slot.handle, CURLOPT_BUFFERSIZE, 512L << 10);
    curl_easy_setopt(slot.handle, CURLOPT_WRITEFUNCTION, &BareDownload::on_body);
    curl_easy_setopt(slot.handle, CURLOPT_WRITEDATA, &slot);
    curl_easy_setopt(slot.handle, CURLOPT_PRIVATE, &slot);
  }
}

BareDownload::~BareDownload() {
  for (const Slot& slot : slots_) {
    curl_multi_remove_handle(multi_, slot.handle);
    curl_easy_cleanup(slot.handle);
  }
  curl_multi_cleanup(multi_);
}

std::size_t BareDownload::on_body(char* data, std::size_t size, std::size_t count, void* slot) noexcept {
  auto& to = *static_cast<Slot*>(slot);
  const std::size_t bytes = size * count;
  if (bytes > to.range.bytes - to.got) return 0;  // fails the request
  std::memcpy(to.memory.get() + to.got, data, bytes);
  to.got += bytes;
  return bytes;
}

// Returns false if no range is left.
bool BareDownload::begin_next(Slot& slot) {
  if (next_ == ranges_.size()) return false;
  slot.range = ranges_[next_++];
  slot.got = 0;
  const std::string range = fmt::format("{}-{}", slot.range.offset, slot.range.offset + slot.range.bytes - 1);
  curl_easy_setopt(slot.handle, CURLOPT_URL, files_[slot.range.file].url.c_str());
  curl_easy_setopt(slot.handle, CURLOPT_RANGE, range.c_str());
  if (curl_multi_add_handle(multi_, slot.handle) != CURLM_OK) throw std::runtime_error("curl_multi_add_handle failed");
  return true;
}

void BareDownload::require_whole(const Slot& slot, CURLcode result) const {
  long status = 0;
  curl_easy_getinfo(slot.handle, CURLINFO_RESPONSE_CODE, &status);
  constexpr long partial_content = 206;
  if (result == CURLE_OK && status == partial_content && slot.got == slot.range.bytes) return;
  throw std::runtime_error(fmt::format("{}: bytes from {} on: {} of {} arrived, status {}: {}",
                                       files_[slot.range.file].url, slot.range.offset, slot.got, slot.range.bytes,
                                       status, curl_easy_strerror(result)));
}

Timing BareDownload::run(std::span<std::byte> batches) {
  const Stopwatch watch;
  std::size_t filled = 0;
  const auto copy = [&](const Slot& slot) {
    for (std::size_t at = 0; at < slot.got && !batches.empty();) {
      if (filled == batches.size()) filled = 0;
      const std::size_t bytes = std::min(slot.got - at, batches.size() - filled);
      std::memcpy(batches.data() + filled, slot.memory.get() + at, bytes);
      at += bytes, filled += bytes;
    }
  };
  next_ = 0;
  std::size_t running = 0;
  for (Slot& slot : slots_) running += begin_next(slot) ? 1 : 0;
  while (running != 0) {
    int left = 0;
    curl_multi_perform(multi_, &left);
    bool any = false;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      any = true;
      const CURLcode result = message->data.result;
      Slot* slot = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
      curl_multi_remove_handle(multi_, slot->handle);
      require_whole(*slot, result);
      copy(*slot);
      if (!begin_next(*slot)) --running;
    }
    constexpr int most_ms = 1000;
    if (!any) curl_multi_poll(multi_, nullptr, 0, most_ms, nullptr);
  }
  return {watch.wall_s(), watch.cpu_s()};
}

}  // namespace penstock::bench
