// Part of a program that is loaded and closed again: it leaves a loader in a static, and another one that nobody ends.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>

#include <chrono>
#include <thread>
#include <vector>

namespace ps = penstock;

namespace {

ps::Pipeline numbers() {
  ps::Memory memory;
  memory.add("x", {}, std::vector<float>(4096));
  return ps::from(std::move(memory)) | ps::shuffle() | ps::batch(16);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int penstock_plugin_batches() {
  static ps::Loader loader(numbers(), {.threads = 3});
  int batches = 0;
  for (const ps::Batch& batch : loader.epoch()) batches += batch.size() == 16;
  auto* const never_ended = new ps::Loader(numbers(), {.threads = 3});
  batches += never_ended->next().has_value();
  // What this file brought along, no runner needs any more.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return batches;
}
