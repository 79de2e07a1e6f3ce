// SPDX-License-Identifier: Apache-2.0
// Part of a program that is loaded and closed again. Its executor lives on, and so do tasks of loaders that are gone:
// they waited for a thread that was busy until the end.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace ps = penstock;

namespace {

ps::Pipeline numbers() {
  ps::Memory memory;
  memory.add("x", {}, std::vector<float>(64));
  return ps::from(std::move(memory)) | ps::shuffle();
}

}  // namespace

extern "C" int penstock_plugin_batches() {
  const auto* const never_ended = new ps::Executor(1);
  std::atomic<bool> over{false};
  const auto busy = numbers() | ps::map([&](ps::Sample&, ps::Context&) {
                      while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    });
  std::optional<ps::Loader> first(std::in_place, busy | ps::batch(1), ps::LoaderOptions{.executor = *never_ended});
  std::jthread caller([&] { (void)first->next(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  int batches = 0;
  for (int i = 0; i < 500; ++i) {
    ps::Loader loader(numbers() | ps::batch(16), {.executor = *never_ended, .depth = 2});
    batches += loader.next().has_value();
  }
  over = true;
  caller.join();
  first.reset();
  return batches;
}
