// SPDX-License-Identifier: Apache-2.0
#include "activity.hpp"

#include <algorithm>
#include <utility>

#ifdef PENSTOCK_BENCH_CUPTI

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <type_traits>

#include <cuda_runtime_api.h>
#include <cupti.h>

#endif

namespace penstock::gpu_bench {

namespace {

void in_order(std::vector<Interval>& all) {
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
}

}  // namespace

std::vector<Interval> merged(std::vector<Interval> all, double gap) {
  in_order(all);
  std::vector<Interval> out;
  for (const Interval& next : all)
    if (!out.empty() && next.begin - out.back().end <= gap)
      out.back().end = std::max(out.back().end, next.end);
    else
      out.push_back(next);
  return out;
}

#ifdef PENSTOCK_BENCH_CUPTI

namespace {

struct CuptiLibrary {
  decltype(&cuptiGetVersion) version = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  std::string why_not = {};
};

CuptiLibrary open_cupti() {
  const std::string name = "libcupti.so." + std::to_string(CUDART_VERSION / 1000);
  void* library = nullptr;
  for (const char* const folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"})
    if (library == nullptr) library = ::dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  CuptiLibrary out;
  if (library == nullptr) {
    out.why_not = "no " + name;
    return out;
  }
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    if (function == nullptr) out.why_not = name + " has no " + symbol;
  };
  find(out.version, "cuptiGetVersion");
  find(out.register_callbacks, "cuptiActivityRegisterCallbacks");
  find(out.enable, "cuptiActivityEnable");
  find(out.disable, "cuptiActivityDisable");
  find(out.flush, "cuptiActivityFlushAll");
  find(out.next_record, "cuptiActivityGetNextRecord");
  if (!out.why_not.empty()) return out;
  // The layout of records may change with a minor version.
  std::uint32_t version = 0;
  if (out.version(&version) != CUPTI_SUCCESS || version / 100 != CUPTI_API_VERSION / 100)
    out.why_not = name + " is of version " + std::to_string(version) + ", and this program was built with " +
                  std::to_string(CUPTI_API_VERSION);
  return out;
}

// Never closed, because from its first use on, the library is between the program and the driver.
const CuptiLibrary& cupti() {
  static const CuptiLibrary library = open_cupti();
  return library;
}

// Global, because CUPTI's callbacks get no pointer to an object.
struct ActivityRecords {
  std::mutex mutex;
  Activity found;
};
ActivityRecords& activity_records() {
  static ActivityRecords records;
  return records;
}

constexpr std::size_t activity_buffer = std::size_t{4} << 20, activity_align = 8;

Interval activity_interval(std::uint64_t begin, std::uint64_t end) {
  return {1e-9 * static_cast<double>(begin), 1e-9 * static_cast<double>(end)};
}

void CUPTIAPI give_activity_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(activity_align, activity_buffer));
  *bytes = *buffer == nullptr ? 0 : activity_buffer;
  *most = 0;
}

void CUPTIAPI take_activity_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t bytes) {
  ActivityRecords& records = activity_records();
  const std::lock_guard lock(records.mutex);
  CUpti_Activity* record = nullptr;
  while (cupti().next_record(buffer, bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
        records.found.copies.push_back(activity_interval(copy.start, copy.end));
    } else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      records.found.kernels.push_back(activity_interval(kernel.start, kernel.end));
    }
  }
  std::free(buffer);
}

constexpr CUpti_ActivityKind activity_kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};

}  // namespace

ActivityRecorder::ActivityRecorder() : why_not_(cupti().why_not) {
  if (!why_not_.empty()) return;
  const auto must_cupti = [&](CUptiResult code, const char* call) {
    if (code != CUPTI_SUCCESS && why_not_.empty())
      why_not_ = std::string(call) + ": CUPTI's error " + std::to_string(static_cast<int>(code));
  };
  must_cupti(cupti().register_callbacks(give_activity_buffer, take_activity_buffer), "cuptiActivityRegisterCallbacks");
  for (const CUpti_ActivityKind kind : activity_kinds) must_cupti(cupti().enable(kind), "cuptiActivityEnable");
  records_ = why_not_.empty();
  if (!records_)
    for (const CUpti_ActivityKind kind : activity_kinds) static_cast<void>(cupti().disable(kind));
}

ActivityRecorder::~ActivityRecorder() {
  if (records_) static_cast<void>(finish());
}

Activity ActivityRecorder::finish() {
  if (!records_) return {};
  records_ = false;
  static_cast<void>(cupti().flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  for (const CUpti_ActivityKind kind : activity_kinds) static_cast<void>(cupti().disable(kind));
  ActivityRecords& records = activity_records();
  const std::lock_guard lock(records.mutex);
  Activity found = std::move(records.found);
  records.found = {};
  in_order(found.copies);
  return found;
}

#else

ActivityRecorder::ActivityRecorder() : why_not_("this program was built without CUPTI's headers") {}
ActivityRecorder::~ActivityRecorder() = default;
Activity ActivityRecorder::finish() { return {}; }

#endif

}  // namespace penstock::gpu_bench
