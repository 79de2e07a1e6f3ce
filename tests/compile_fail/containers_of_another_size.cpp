// option: -D_GLIBCXX_DEBUG
// expect: Penstock was built without _GLIBCXX_DEBUG
#include <penstock/error.hpp>
