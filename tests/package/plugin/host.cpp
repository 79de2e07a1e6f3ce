// SPDX-License-Identifier: Apache-2.0
// Loads the plugin it is told of, uses it, and closes it, over and over. Ends with 0 where all went well.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <thread>

int main(int, char** arguments) {
  for (int round = 0; round < 3; ++round) {
    void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::printf("%s\n", dlerror());
      return 2;
    }
    const auto batches = reinterpret_cast<int (*)()>(dlsym(plugin, "penstock_plugin_batches"));
    if (batches == nullptr || batches() != 500) return 3;
    dlclose(plugin);
    if (dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) != nullptr) {
      std::puts("the plugin was not unloaded, so nothing was tried");
      return 4;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  std::puts("3 rounds");
}
