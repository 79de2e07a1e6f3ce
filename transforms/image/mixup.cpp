// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/mixup.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/device_stage.hpp>

#include "beta.hpp"
#include "describe.hpp"
#include "mix_fields.hpp"

namespace penstock {

namespace {

class Mixup {
 public:
  explicit Mixup(MixupOptions options) : options_(std::move(options)) {
    if (options_.fields.empty()) throw Error(Errc::invalid_argument, "mixup: no field is named");
    image::check_mix_options("mixup", options_.fields, options_.alpha);
  }
  Schema schema(const Schema& in) const {
    image::check_mixed(in, options_.fields);
    return in;
  }
  image::MixDraw draw(Rng& rng) const { return {static_cast<float>(image::draw_beta(options_.alpha, rng)), 1}; }
  std::vector<std::string> writes() const { return options_.fields; }
  bool mixes_rows() const { return true; }
  bool in_place() const { return true; }
  std::string name() const { return "mixup"; }
  std::string describe() const { return image::names_of(options_.fields) + ", alpha " + image::text(options_.alpha); }

  void run(const BatchView& in, const BatchView& out, StreamRef stream) const {
    const auto* const draws = reinterpret_cast<const image::MixDraw*>(in.draws);
    for (const std::string& field : options_.fields) {
      const image::MixRows work = image::mix_rows_of(in, out, field);
      const image::DrawnShares shares{draws};
      if (stream.device().kind == Device::Kind::gpu) {
        image::mix_on_gpu(work, shares, stream);
        continue;
      }
      const std::size_t bytes = in[field].bytes();
      launch_on_host(stream, "mixup", [=] { image::mix_on_host(work, shares); },
                     {{work.in, bytes, false}, {draws, work.rows * sizeof *draws, false}, {work.out, bytes, true}});
    }
  }

 private:
  MixupOptions options_;
};

}  // namespace

Stage mixup(const MixupOptions& options) { return device_stage(Mixup(options)); }

}  // namespace penstock
