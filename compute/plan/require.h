// Throws Error{bad_setting} unless a condition holds. The error names the key and a remedy.
#pragma once

#include <string>
#include <utility>

#include "compute/error.h"

namespace echolux {

inline void require(bool condition, std::string what, std::string key, std::string remedy) {
    if (!condition) throw Error(ErrorCode::bad_setting, std::move(what), std::move(key), std::move(remedy));
}

}  // namespace echolux
