// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/json/cursor.hpp"

namespace penstock::json {

using common::json::characters;
using common::json::Cursor;
using common::json::Kind;
using common::json::Text;
using common::json::to_words;

}  // namespace penstock::json
