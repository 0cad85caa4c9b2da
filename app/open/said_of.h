// What is wrong with a volume is said of the file that it came from: rooms below know voxels only.
#pragma once

#include <string>
#include <string_view>

#include "compute/error.h"

namespace echolux {

// work(), whose Error at `place` becomes one at `file`, where there is one.
template <class Work>
auto said_of(const std::string& file, std::string_view place, const Work& work) {
    try {
        return work();
    } catch (const Error& error) {
        if (file.empty() || error.where() != place) throw;
        throw Error(error.code(), error.problem(), file, error.remedy());
    }
}

}  // namespace echolux
