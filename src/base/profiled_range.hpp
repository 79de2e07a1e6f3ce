// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::detail {

#ifdef PENSTOCK_NVTX
void begin_range(const char* name) noexcept;
void end_range() noexcept;
#endif

/// Makes NVIDIA's profilers show `name` for what the calling thread does until this object is destroyed. Does nothing
/// without PENSTOCK_NVTX.
class ProfiledRange {
 public:
#ifdef PENSTOCK_NVTX
  explicit ProfiledRange(const char* name) noexcept { begin_range(name); }
  explicit ProfiledRange(const std::string& name) noexcept { begin_range(name.c_str()); }
  ~ProfiledRange() { end_range(); }
#else
  explicit ProfiledRange(const char*) noexcept {}
  explicit ProfiledRange(const std::string&) noexcept {}
  ~ProfiledRange() {}
#endif
  ProfiledRange(const ProfiledRange&) = delete;
  ProfiledRange& operator=(const ProfiledRange&) = delete;
};

}  // namespace penstock::detail
