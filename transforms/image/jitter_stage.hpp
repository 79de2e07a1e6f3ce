// SPDX-License-Identifier: Apache-2.0
// A change of colour as a stage that may stand before or after `batch`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <penstock/extend/device_stage.hpp>

#include "cuda/color_kernels.hpp"

namespace penstock::image {

// The stage after `batch`. `Change` is what kernels read for an image. It begins with the bytes of the image's
// Params.
template <class Jitter, class Change>
class JitterOnBatches {
  using Params = typename Jitter::Params;
  static_assert(sizeof(Change) >= sizeof(Params));

 public:
  using Kernel = void (*)(const JitterWork<Change>& work, StreamRef stream);

  JitterOnBatches(Jitter jitter, std::string field, std::string name, Kernel kernel)
      : jitter_(std::move(jitter)), field_(std::move(field)), name_(std::move(name)), kernel_(kernel) {}
  Schema schema(const Schema& in) const { return in; }
  Change draw(Rng& rng) const {
    const Params params = jitter_.draw(rng);
    Change change{};
    std::memcpy(static_cast<void*>(&change), &params, sizeof params);
    return change;
  }
  std::vector<std::string> writes() const { return {field_}; }
  std::string name() const { return name_; }
  std::string describe() const { return jitter_.describe(); }

  void run(const BatchView& in, const BatchView& out, StreamRef stream) const {
    const TensorView from = in[field_], to = out[field_];
    const std::byte* const draws = in.draws;
    const std::uint64_t images = in.rows;
    const std::int64_t height = from.shape[1], width = from.shape[2], channels = from.shape[3];
    const auto* const pixels = reinterpret_cast<const std::uint8_t*>(from.data);
    auto* const changed = reinterpret_cast<std::uint8_t*>(to.data);
    if (stream.device().kind == Device::Kind::gpu)
      return kernel_(
          {pixels, changed, reinterpret_cast<const Change*>(draws), images,
           static_cast<std::uint64_t>(height) * static_cast<std::uint64_t>(width), static_cast<int>(channels)},
          stream);
    const std::size_t image_bytes = from.bytes() / images;
    launch_on_host(
        stream, name_.c_str(),
        [=] {
          std::memcpy(changed, pixels, images * image_bytes);
          for (std::uint64_t i = 0; i < images; ++i) {
            Params params;
            std::memcpy(&params, draws + i * sizeof(Change), sizeof params);
            Jitter::apply(params, View<std::uint8_t, 3>(changed + i * image_bytes, {height, width, channels}));
          }
        },
        {{from.data, from.bytes(), false}, {draws, images * sizeof(Change), false}, {to.data, to.bytes(), true}});
  }

 private:
  Jitter jitter_;
  std::string field_, name_;
  Kernel kernel_;
};

template <class Change, class Jitter>
Stage jitter_stage(std::string field, std::string name, Jitter jitter,
                   typename JitterOnBatches<Jitter, Change>::Kernel kernel) {
  using OnBatches = JitterOnBatches<Jitter, Change>;
  OnBatches on_batches(jitter, field, name, kernel);
  return map(std::move(field), std::move(jitter), std::move(on_batches), {.name = std::move(name)});
}

}  // namespace penstock::image
