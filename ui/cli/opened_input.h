// Errors of inputs for commands without a visible window: they end the program instead of waiting in the list of
// notices.
#pragma once

#include "compute/error.h"
#include "ui/workspace/workspace.h"

namespace echolux {

// Throws the first pending error if nothing is open. Returns without an error if the input may still arrive.
inline void require_opened(Workspace& work) {
    if (work.is_open()) return;
    for (const Notice& notice : work.notices().all()) {
        if (notice.is_trouble && notice.stands) throw Error(ErrorCode::output, notice.line);
    }
}

}  // namespace echolux
