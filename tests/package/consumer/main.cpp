#include <penstock/version.hpp>

#include <cstdio>

int main() {
  std::printf("penstock %d.%d.%d\n", PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR, PENSTOCK_VERSION_PATCH);
  return 0;
}
