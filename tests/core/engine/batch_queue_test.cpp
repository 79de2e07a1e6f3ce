// SPDX-License-Identifier: Apache-2.0
// The queue of batches, without threads.
#include "engine/batch_queue.hpp"

#include <memory>
#include <vector>

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

TEST_CASE("a queue gives batches back in the order in which they were admitted") {
  std::vector<std::unique_ptr<BatchBuffer>> buffers;
  for (int i = 0; i < 3; ++i) buffers.push_back(std::make_unique<BatchBuffer>(ps::host_memory(), ~std::size_t{0}));
  BatchQueue queue(buffers.size());
  CHECK(queue.empty());
  for (std::uint64_t round = 0; round < 4; ++round) {
    for (const auto& buffer : buffers) queue.admit(*buffer);
    CHECK(queue.admitted() == (round + 1) * buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      CHECK(&queue.at(round * buffers.size() + i) == buffers[i].get());
      REQUIRE(!queue.empty());
      CHECK(&queue.front() == buffers[i].get());
      queue.deliver();
      CHECK(queue.leased() == i + 1);
    }
    CHECK(queue.empty());
    for (std::size_t i = 0; i < buffers.size(); ++i) queue.give_back();
    CHECK(queue.leased() == 0);
  }
}

TEST_CASE("a queue that is reset gives up what is not delivered, and counts what is leased still") {
  BatchBuffer first(ps::host_memory(), ~std::size_t{0}), second(ps::host_memory(), ~std::size_t{0});
  BatchQueue queue(2);
  queue.admit(first);
  queue.deliver();
  queue.admit(second);
  std::vector<BatchBuffer*> given_up;
  queue.reset([&](BatchBuffer& buffer) { given_up.push_back(&buffer); });
  CHECK(given_up == std::vector<BatchBuffer*>{&second});
  CHECK(queue.empty());
  CHECK(queue.admitted() == 0);
  CHECK(queue.leased() == 1);
}
