// SPDX-License-Identifier: Apache-2.0
#include "raw_loop.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include <fmt/format.h>

namespace penstock::bench {

namespace {

constexpr std::size_t ring_alignment = 256;
constexpr std::size_t scratch_alignment = 64;

class KeptMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, std::size_t align) override {
    const std::lock_guard lock(mutex_);
    const auto fits = [&](const Block& b) { return b.bytes == bytes && b.align == align; };
    if (const auto it = std::find_if(free_.begin(), free_.end(), fits); it != free_.end()) {
      void* data = it->data;
      free_.erase(it);
      return data;
    }
    void* data = host_memory().allocate(bytes, align);
    std::memset(data, 0, bytes);
    return data;
  }
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override {
    const std::lock_guard lock(mutex_);
    try {
      free_.push_back({data, bytes, align});
    } catch (const std::bad_alloc&) {
      host_memory().deallocate(data, bytes, align);
    }
  }
  MemoryKind kind() const noexcept override { return MemoryKind::host; }
  void trim() {
    const std::lock_guard lock(mutex_);
    for (const Block& b : free_) host_memory().deallocate(b.data, b.bytes, b.align);
    free_.clear();
  }

 private:
  struct Block {
    void* data;
    std::size_t bytes, align;
  };
  std::mutex mutex_;
  std::vector<Block> free_;
};

KeptMemory& kept_memory() {
  static KeptMemory memory;
  return memory;
}

}  // namespace

Ring::Ring(std::size_t row_bytes, std::uint64_t rows, unsigned depth)
    : row_bytes_(row_bytes),
      rows_(rows * depth),
      data_(static_cast<std::byte*>(host_memory().allocate(row_bytes * rows * depth, ring_alignment))) {
  std::memset(data_, 0, row_bytes_ * rows_);
}
Ring::~Ring() { host_memory().deallocate(data_, row_bytes_ * rows_, ring_alignment); }

MemoryResource& round_memory() { return kept_memory(); }
void trim_round_memory() { kept_memory().trim(); }

Timing time_loader(const Pipeline& pipeline, const Executor& executor, unsigned threads, std::uint64_t epochs,
                   std::size_t block_bytes) {
  Loader loader(pipeline, {.threads = threads,
                           .executor = executor,
                           .depth = ring_depth,
                           .max_block_bytes = block_bytes,
                           .host_memory = &round_memory(),
                           .epochs = epochs});
  std::uint64_t samples = 0;
  const Stopwatch watch;
  for (std::uint64_t e = 0; e < epochs; ++e)
    for (const Batch& batch : loader.epoch()) samples += batch.size();
  const Timing timing{watch.wall_s(), watch.cpu_s()};
  if (samples != pipeline.size() * epochs)
    throw std::runtime_error(
        fmt::format("the loader gave {} samples instead of {}", samples, pipeline.size() * epochs));
  return timing;
}

std::vector<std::uint64_t> order_of(const Pipeline& pipeline, std::uint64_t epochs) {
  std::vector<std::uint64_t> order(pipeline.size() * epochs);
  for (std::uint64_t e = 0; e < epochs; ++e)
    pipeline.fill(e, 0, std::span(order).subspan(e * pipeline.size(), pipeline.size()));
  return order;
}

void RawScratch::Free::operator()(std::byte* data) const noexcept {
  ::operator delete(data, std::align_val_t(scratch_alignment));
}

std::byte* RawScratch::allocate(std::size_t bytes) {
  if (data_ == nullptr)
    data_.reset(static_cast<std::byte*>(::operator new(capacity, std::align_val_t(scratch_alignment))));
  const std::size_t need = (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
  if (need > capacity - used_) throw std::bad_alloc();
  std::byte* out = data_.get() + used_;
  used_ += need;
  return out;
}

}  // namespace penstock::bench
