// SPDX-License-Identifier: Apache-2.0
// expect: StreamRef
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
void f(ps::Loader& loader) { (void)loader.next(0); }
#else
void f(ps::Loader& loader) { (void)loader.next(ps::StreamRef{}); }
#endif
