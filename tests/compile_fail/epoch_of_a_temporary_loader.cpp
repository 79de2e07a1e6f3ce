// SPDX-License-Identifier: Apache-2.0
// expect: the loader would be gone in the loop: give it a name
#include <penstock/penstock.hpp>
namespace ps = penstock;
void f(const ps::Pipeline& p) {
#ifdef BROKEN
  for (ps::Batch& batch : ps::Loader(p).epoch()) batch.release();
#else
  ps::Loader loader(p);
  for (ps::Batch& batch : loader.epoch()) batch.release();
#endif
}
