// SPDX-License-Identifier: Apache-2.0
#include "bench/device.hpp"

#include <charconv>
#include <system_error>

#include "console/command_line.hpp"
#include "console/output.hpp"

namespace penstock::cli {

BenchDevice::BenchDevice(const std::string& text) {
  if (text.empty()) return;
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "gpu") {
    int index = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    const bool whole = read.ec == std::errc() && read.ptr == rest.data() + rest.size() && index >= 0;
    if (colon != std::string::npos && !whole)
      throw UsageError("--device gpu:N: \"" + rest + "\" is no number of a GPU");
    device_ = gpu(index);
  } else if (kind == "emulated") {
    EmulatedGpuOptions options;
    if (colon != std::string::npos) options.max_copy_bytes_per_s = parse_bytes(rest);
    device_ = emulated_.emplace(options).device();
  } else {
    throw UsageError("--device: \"" + text + "\" is neither gpu, gpu:N, emulated nor emulated:BYTES");
  }
}

}  // namespace penstock::cli
