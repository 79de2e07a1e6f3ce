// SPDX-License-Identifier: Apache-2.0
#include "failing_allocations.hpp"

#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace {

std::atomic<bool> counts{false};
std::atomic<std::uint64_t> made{0}, fails_at{0};

// Where oneTBB's code lies. What it takes for itself when it begins it does not get over: it waits for ever, or ends
// the process.
struct Code {
  std::uintptr_t begin = 0, end = 0;
} tbb;

int find_tbb(dl_phdr_info* library, std::size_t, void*) {
  if (std::strstr(library->dlpi_name, "libtbb.so") == nullptr) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    tbb.begin = library->dlpi_addr + part.p_vaddr;
    tbb.end = tbb.begin + part.p_memsz;
  }
  return 1;
}

void say_where() {
  std::array<void*, 64> frames{};
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), frames.size()), STDERR_FILENO);
}

bool fails(const void* caller) noexcept {
  if (!counts.load(std::memory_order_relaxed)) return false;
  if (const auto at = reinterpret_cast<std::uintptr_t>(caller); at >= tbb.begin && at < tbb.end) return false;
  if (made.fetch_add(1, std::memory_order_relaxed) + 1 != fails_at) return false;
  if (std::getenv("PENSTOCK_TRACE") != nullptr) say_where();
  return true;
}

void* allocate(std::size_t bytes, const void* caller) noexcept {
  return fails(caller) ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
}
void* allocate(std::size_t bytes, std::align_val_t align, const void* caller) noexcept {
  const auto to = static_cast<std::size_t>(align);
  return fails(caller) ? nullptr : std::aligned_alloc(to, (bytes + to) / to * to);
}
void* or_throw(void* data) {
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace

void* operator new(std::size_t bytes) { return or_throw(allocate(bytes, __builtin_return_address(0))); }
void* operator new[](std::size_t bytes) { return or_throw(allocate(bytes, __builtin_return_address(0))); }
void* operator new(std::size_t bytes, std::align_val_t align) {
  return or_throw(allocate(bytes, align, __builtin_return_address(0)));
}
void* operator new[](std::size_t bytes, std::align_val_t align) {
  return or_throw(allocate(bytes, align, __builtin_return_address(0)));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, __builtin_return_address(0));
}
void* operator new(std::size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
  return allocate(bytes, align, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
  return allocate(bytes, align, __builtin_return_address(0));
}
// Not inlined: the compiler would see what the library got from `new` go to free().
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data, std::size_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data, std::align_val_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }

namespace penstock_test {

void begin_allocations(std::uint64_t n) {
  if (tbb.end == 0) ::dl_iterate_phdr(find_tbb, nullptr);
  if (std::getenv("PENSTOCK_TRACE") != nullptr)
    std::set_terminate([] {
      say_where();
      std::abort();
    });
  made = 0;
  fails_at = n;
  counts = true;
}

std::uint64_t end_allocations() {
  counts = false;
  return made;
}

}  // namespace penstock_test
