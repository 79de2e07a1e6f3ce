// SPDX-License-Identifier: Apache-2.0
// expect: this is a pointer to a source; give the source itself, or share(source)
#include <memory>
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Pipeline p(const std::shared_ptr<ps::Memory>& memory) { return ps::from(memory); }
#else
ps::Pipeline p(const std::shared_ptr<ps::Memory>& memory) { return ps::from(*memory); }
#endif
