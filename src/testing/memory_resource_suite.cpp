// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/testing/memory_resource.hpp>

#include "at_once.hpp"
#include "findings.hpp"

namespace penstock::testing {

namespace {

constexpr std::string_view any_size = "a block of any size and alignment is given";

struct Block {
  std::byte* data = nullptr;
  std::size_t bytes = 0, align = 1;
  int content = 0;
};

class MemoryResourceSuite {
 public:
  MemoryResourceSuite(MemoryResource& resource, const MemoryResourceOptions& options)
      : resource_(resource), options_(options), writable_(resource.kind() != MemoryKind::device) {}

  Report run() {
    findings_.check(resource_.kind() == resource_.kind(), "kind is always the same", [] { return "it changed"; });
    hold_many(0);
    nothing();
    too_much();
    hold_many(1);
    at_once(std::max(options_.threads, 1u), [&](unsigned thread) {
      for (int round = 0; round < 4; ++round) hold_many(static_cast<int>(thread) * 4 + round);
    });
    return findings_.report();
  }

 private:
  bool allocate(std::vector<Block>& held, std::size_t bytes, std::size_t align, int content) {
    Block block{nullptr, bytes, align, content};
    const std::string who = std::to_string(bytes) + " bytes, aligned to " + std::to_string(align);
    if (!findings_.runs(any_size, who, [&] { block.data = static_cast<std::byte*>(resource_.allocate(bytes, align)); }))
      return false;
    if (!findings_.check(block.data != nullptr || bytes == 0, any_size, [&] { return who + ": null was given"; }))
      return false;
    findings_.check(reinterpret_cast<std::uintptr_t>(block.data) % align == 0, "blocks are aligned as asked", [&] {
      return who + ": the address ends in " + std::to_string(reinterpret_cast<std::uintptr_t>(block.data) % align);
    });
    held.push_back(block);
    if (writable_ && bytes != 0) std::memset(block.data, content, bytes);
    return true;
  }

  void give_back(std::vector<Block>& held) {
    if (writable_)
      for (const Block& block : held) {
        const auto is_content = [&](std::byte b) { return std::to_integer<int>(b) == block.content; };
        findings_.check(
            std::all_of(block.data, block.data + block.bytes, is_content), "a block keeps what is written to it",
            [&] { return "one of " + std::to_string(block.bytes) + " bytes was changed while others were used"; });
      }
    std::ranges::sort(held, {}, &Block::data);
    for (std::size_t i = 1; i < held.size(); ++i)
      findings_.check(held[i - 1].bytes == 0 || held[i - 1].data + held[i - 1].bytes <= held[i].data,
                      "blocks lie apart from each other", [&] {
                        return "one of " + std::to_string(held[i - 1].bytes) + " bytes reaches into one of " +
                               std::to_string(held[i].bytes);
                      });
    for (const Block& block : held) resource_.deallocate(block.data, block.bytes, block.align);
    held.clear();
  }

  // Allocates blocks of all sizes and alignments, and holds them. In between, allocates some blocks that it gives back
  // immediately.
  void hold_many(int first_content) {
    std::vector<Block> held, short_lived;
    int content = first_content * 31;
    std::size_t align = 1;
    for (const std::size_t bytes : sizes()) {
      for (int i = 0; i < 4; ++i) {
        content = (content + 1) % 256;
        if (!allocate(held, bytes, align, content)) break;
        if (i % 3 == 0) {
          allocate(short_lived, bytes, align, 255 - content);
          give_back(short_lived);
        }
        align = align >= options_.max_align ? 1 : align * 2;
      }
    }
    give_back(held);
  }
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> all{1, 2, 3, 7, 8, 63, 64, 65, 255, 256, 1000, 4095, 4096, 4097};
    for (std::size_t bytes = 8192; bytes < options_.largest; bytes *= 2) all.push_back(bytes + bytes / 3);
    std::erase_if(all, [&](std::size_t bytes) { return bytes > options_.largest; });
    all.push_back(options_.largest);
    return all;
  }

  void nothing() {
    std::vector<Block> held;
    for (std::size_t align = 1; align <= options_.max_align; align *= 2) allocate(held, 0, align, 0);
    give_back(held);
  }

  void too_much() {
    void* data = nullptr;
    const auto error =
        findings_.refused("what can't be given is an Error", std::to_string(options_.too_much) + " bytes",
                          [&] { data = resource_.allocate(options_.too_much, 64); });
    if (data != nullptr) resource_.deallocate(data, options_.too_much, 64);
    if (!error) return;
    findings_.check(error->code() == Errc::out_of_memory, "what can't be given is Error(out_of_memory)",
                    [&] { return "it is " + std::string(to_string(error->code())); });
    findings_.check(error->cause().find(std::to_string(options_.too_much)) != std::string::npos,
                    "Error(out_of_memory) says how much was asked for", [&] { return "it says: " + error->cause(); });
  }

  MemoryResource& resource_;
  const MemoryResourceOptions& options_;
  bool writable_;
  Findings findings_;
};

}  // namespace

Report check_memory_resource(MemoryResource& resource, const MemoryResourceOptions& options) {
  return MemoryResourceSuite(resource, options).run();
}

}  // namespace penstock::testing
