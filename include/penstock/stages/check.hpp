#pragma once

#include <cstdint>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `check`.
struct CheckOptions {
  bool verify = false;  ///< result option: every stored image is decoded to its end and every
                        ///< warning read, also where a crop needs less
  bool fold = true;     ///< false runs each image stage alone on whole images; the same bits, slowly
  std::uint64_t max_sample_bytes = 256ull << 20;  ///< result option: no field of any sample may become larger
};
/// Sets how carefully samples are read.
PENSTOCK_API Stage check(CheckOptions options);

}  // namespace penstock
