// Names of error codes for programs: "bad_setting".
#pragma once

#include <string_view>

#include "compute/error.h"

namespace echolux {

constexpr std::string_view name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::bad_setting: return "bad_setting";
        case ErrorCode::bad_file: return "bad_file";
        case ErrorCode::output: return "output";
        case ErrorCode::out_of_memory: return "out_of_memory";
        case ErrorCode::device: return "device";
        case ErrorCode::cancelled: return "cancelled";
    }
    return "";
}

}  // namespace echolux
