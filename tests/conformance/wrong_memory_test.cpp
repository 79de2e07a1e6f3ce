// SPDX-License-Identifier: Apache-2.0
// Memory resources that break one promise each, and what the suite says of them.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/testing/memory_resource.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "findings.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;

namespace {

class Right : public ps::MemoryResource {
 public:
  void* allocate(std::size_t bytes, std::size_t align) override { return ps::host_memory().allocate(bytes, align); }
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override {
    ps::host_memory().deallocate(data, bytes, align);
  }
  ps::MemoryKind kind() const noexcept override { return ps::MemoryKind::host; }
};

ps::testing::Report report_on(ps::MemoryResource& resource) {
  return ps::testing::check_memory_resource(resource, {.largest = 20'000});
}

}  // namespace

TEST_CASE("a memory resource that is right passes") {
  Right right;
  ps::testing::StatisticsResource counted(right);
  const auto report = report_on(counted);
  CHECK(report.text() == "");
  CHECK(report.passed());
  CHECK(counted.used() == 0);
}

TEST_CASE("blocks that are not aligned are found") {
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      return static_cast<std::byte*>(Right::allocate(bytes + 64, 64)) + (align == 64 && bytes < 1u << 20 ? 8 : 0);
    }
    void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override {
      Right::deallocate(static_cast<std::byte*>(data) - (align == 64 && bytes < 1u << 20 ? 8 : 0), bytes + 64, 64);
    }
  } askew;
  CHECK(found(report_on(askew), "blocks are aligned as asked"));
}

TEST_CASE("blocks that overlap are found") {
  // Every block of one size is the same memory.
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      if (bytes == 255) return one_;
      return Right::allocate(bytes, align);
    }
    void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override {
      if (bytes != 255) Right::deallocate(data, bytes, align);
    }

   private:
    alignas(4096) std::byte one_[255];
  } shared;
  const auto report = ps::testing::check_memory_resource(shared, {.largest = 20'000, .threads = 1});
  CHECK(found(report, "blocks lie apart from each other"));
  CHECK(found(report, "a block keeps what is written to it"));
}

TEST_CASE("requests that fail, or don't, are found") {
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      if (bytes == 0) throw ps::Error(ps::Errc::invalid_argument, "nothing was asked for");
      return Right::allocate(bytes, align);
    }
  } not_nothing;
  CHECK(found_only(report_on(not_nothing), "a block of any size and alignment is given"));
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      return bytes == 4096 ? nullptr : Right::allocate(bytes, align);
    }
  } null;
  CHECK(found_only(report_on(null), "a block of any size and alignment is given"));
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      if (bytes > 1u << 30) throw std::bad_alloc();
      return Right::allocate(bytes, align);
    }
  } foreign;
  CHECK(found_only(report_on(foreign), "what can't be given is an Error"));
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      return Right::allocate(bytes > 1u << 30 ? 64 : bytes, align);
    }
    void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override {
      Right::deallocate(data, bytes > 1u << 30 ? 64 : bytes, align);
    }
  } generous;
  CHECK(found_only(report_on(generous), "what can't be given is an Error"));
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      if (bytes > 1u << 30) throw ps::Error(ps::Errc::io, "no " + std::to_string(bytes));
      return Right::allocate(bytes, align);
    }
  } other_code;
  CHECK(found_only(report_on(other_code), "what can't be given is Error(out_of_memory)"));
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      if (bytes > 1u << 30) throw ps::Error(ps::Errc::out_of_memory, "no more");
      return Right::allocate(bytes, align);
    }
  } taciturn;
  CHECK(found_only(report_on(taciturn), "Error(out_of_memory) says how much was asked for"));
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      if (spent_) throw ps::Error(ps::Errc::out_of_memory, "no " + std::to_string(bytes));
      spent_ = bytes > 1u << 30;
      return Right::allocate(bytes, align);
    }

   private:
    std::atomic<bool> spent_{false};
  } spent;
  CHECK(found_only(report_on(spent), "a block of any size and alignment is given"));
  class : public Right {
   public:
    ps::MemoryKind kind() const noexcept override {
      return ++asked_ % 2 == 0 ? ps::MemoryKind::host : ps::MemoryKind::pinned;
    }

   private:
    mutable std::atomic<int> asked_{0};
  } undecided;
  CHECK(found_only(report_on(undecided), "kind is always the same"));
}

TEST_CASE("a resource that only one thread can use is found") {
  class : public Right {
   public:
    void* allocate(std::size_t bytes, std::size_t align) override {
      if (std::this_thread::get_id() != first_) throw ps::Error(ps::Errc::out_of_memory, "another thread");
      return Right::allocate(bytes, align);
    }

   private:
    std::thread::id first_ = std::this_thread::get_id();
  } of_one_thread;
  CHECK(found_only(report_on(of_one_thread), "a block of any size and alignment is given"));
}

}  // namespace PENSTOCK_TEST_FILE
