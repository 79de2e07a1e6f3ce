// SPDX-License-Identifier: Apache-2.0
// Part of the package tests (tests/package/run): a program of the component cuda, which needs no driver.
#include <penstock/interop/cuda.hpp>
#include <penstock/penstock.hpp>

#include "say.hpp"

int main() {
  try {
    penstock::cuda_stream(penstock::StreamRef());
  } catch (const penstock::Error&) {
    return say("a stream that is none of CUDA's", true);
  }
  return say("a stream that is none of CUDA's", false);
}
