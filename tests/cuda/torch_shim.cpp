// SPDX-License-Identifier: Apache-2.0
// A loader of a GPU, whose batches torch reads and trains on, behind an interface of C. Streams are CUDA's handles.
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include <penstock/interop/cuda.hpp>
#include <penstock/interop/dlpack.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

namespace {

namespace ps = penstock;
namespace dl = penstock::dlpack;

thread_local std::string gpu_error_text;

// Null and the words where it throws.
template <class F>
void* gpu_told(F f) noexcept {
  try {
    gpu_error_text.clear();
    return f();
  } catch (const std::exception& error) {
    gpu_error_text = error.what();
  }
  return nullptr;
}

// Images that show their class: brighter in one of its quarters.
struct Quarters {
  static constexpr std::int64_t side = 32;
  std::uint64_t count;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const {
    return {{"image", ps::DType::u8, {side, side, 3}}, {"label", ps::DType::i64, {}}, {"number", ps::DType::i64, {}}};
  }
  std::string name() const { return "quarters"; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const std::uint64_t label = i % 4;
    auto image = out.emplace<std::uint8_t, 3>("image", {side, side, 3});
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x)
        for (std::int64_t c = 0; c < 3; ++c) {
          const bool bright = (y >= side / 2) == (label / 2 == 1) && (x >= side / 2) == (label % 2 == 1);
          image(y, x, c) = static_cast<std::uint8_t>((bright ? 160 : 60) +
                                                     (i * 31 + static_cast<std::uint64_t>(y * 7 + x * 13 + c)) % 60);
        }
    out.scalar("label", static_cast<std::int64_t>(label));
    out.scalar("number", static_cast<std::int64_t>(i));
  }
};

ps::StreamRef stream_of(std::uint64_t handle) {
  return ps::stream_ref(reinterpret_cast<cudaStream_t>(static_cast<std::uintptr_t>(handle)));
}

}  // namespace

#define PENSTOCK_SHIM extern "C" __attribute__((visibility("default")))

PENSTOCK_SHIM const char* gpu_last_error() { return gpu_error_text.c_str(); }
PENSTOCK_SHIM void* gpu_loader(std::uint64_t records, std::uint64_t rows, unsigned device_depth, int epochs) {
  return gpu_told([&] {
    const ps::Pipeline pipeline = ps::from(Quarters{records}) | ps::shuffle({.seed = 3}) | ps::batch(rows) |
                                  ps::normalize("image", {.mean = {0.5}, .std = {0.25}, .dtype = ps::DType::bf16});
    return new ps::Loader(pipeline, {.device = ps::gpu(0),
                                     .threads = 4,
                                     .device_depth = device_depth,
                                     .epochs = static_cast<std::uint64_t>(epochs)});
  });
}
PENSTOCK_SHIM void gpu_loader_end(void* loader) { delete static_cast<ps::Loader*>(loader); }
// Null without an error: the epoch's end.
PENSTOCK_SHIM void* gpu_next(void* loader, std::uint64_t stream) {
  return gpu_told([&]() -> void* {
    auto batch = static_cast<ps::Loader*>(loader)->next(stream_of(stream));
    return batch ? new dl::Exporter(std::move(*batch)) : nullptr;
  });
}
PENSTOCK_SHIM void gpu_batch_end(void* batch) { delete static_cast<dl::Exporter*>(batch); }
PENSTOCK_SHIM void* gpu_versioned(void* batch, const char* field, std::uint64_t stream) {
  return gpu_told([&]() -> void* { return static_cast<dl::Exporter*>(batch)->to_versioned(field, stream_of(stream)); });
}
PENSTOCK_SHIM void* gpu_unversioned(void* batch, const char* field, std::uint64_t stream) {
  return gpu_told(
      [&]() -> void* { return static_cast<dl::Exporter*>(batch)->to_unversioned(field, stream_of(stream)); });
}
