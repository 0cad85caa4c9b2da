// Adds the source file to errors about a volume: lower layers know only voxels.
#pragma once

#include <string>
#include <string_view>

#include "compute/error.h"

namespace echolux {

// Calls work(). An Error located at `place` is thrown again with `file` as its location, unless it is empty.
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
