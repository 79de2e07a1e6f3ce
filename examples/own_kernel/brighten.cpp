// SPDX-License-Identifier: Apache-2.0
#include "brighten.hpp"

namespace ps = penstock;

void Brighten::run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
  const ps::TensorView from = in["image"], to = out["image"], light = out["light"];
  const Brightening work{reinterpret_cast<const std::uint8_t*>(from.data),
                         reinterpret_cast<std::uint8_t*>(to.data),
                         reinterpret_cast<const Light*>(in.draws),
                         reinterpret_cast<Light*>(light.data),
                         from.bytes() / in.rows,
                         in.rows};
#ifdef OWN_KERNEL_CUDA
  if (stream.device().kind == ps::Device::Kind::gpu) return brighten_on_gpu(work, stream);
#endif
  // The function captures a copy of `work`, because the views no longer exist when the stream runs the function.
  ps::launch_on_host(stream, "brighten",
                     [work] {
                       for (std::uint64_t row = 0; row < work.rows; ++row) {
                         work.lights_to[row] = work.lights[row];
                         for (std::size_t i = row * work.row_bytes; i < (row + 1) * work.row_bytes; ++i)
                           work.to[i] = brighter(work.from[i], work.lights[row]);
                       }
                     },
                     {{from.data, from.bytes(), false},
                      {in.draws, in.rows * sizeof(Light), false},
                      {to.data, to.bytes(), true},
                      {light.data, light.bytes(), true}});
}
