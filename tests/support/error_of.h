// The error thrown by a piece of work, for tests of refusals.
#pragma once

#include <string>

#include "compute/error.h"

namespace echolux {

// Empty texts if nothing is thrown.
struct Caught {
    std::string line, where;
    ErrorCode code = ErrorCode::cancelled;
};

template <class Work>
Caught error_of(Work&& work) {
    try {
        work();
    } catch (const Error& error) {
        return {error.line(), error.where(), error.code()};
    }
    return {};
}

}  // namespace echolux
