// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <penstock/extend/image_executor.hpp>

namespace penstock::slide {

/// A Scratch for code outside of a runner. The memory is valid as long as the object exists.
class HeapScratch final : public Scratch {
 public:
  std::byte* allocate(std::size_t bytes) override {
    return pieces_.emplace_back(new (alignment) std::byte[bytes]).get();
  }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, alignment); }
  };
  std::vector<std::unique_ptr<std::byte, Free>> pieces_;
};

}  // namespace penstock::slide
