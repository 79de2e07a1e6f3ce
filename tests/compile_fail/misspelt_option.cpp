// SPDX-License-Identifier: Apache-2.0
// expect: thread
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Loader f(const ps::Pipeline& p) { return ps::Loader(p, ps::LoaderOptions{.thread = 2}); }
#else
ps::Loader f(const ps::Pipeline& p) { return ps::Loader(p, ps::LoaderOptions{.threads = 2}); }
#endif
