// What a command line names has to open where nobody looks at a window: it is said at once, and the program ends.
#pragma once

#include "compute/error.h"
#include "ui/workspace/workspace.h"

namespace echolux {

// Where nothing is open although it was asked for: throws what stands of it. Empty: it is only not there yet.
inline void require_opened(Workspace& work) {
    if (work.is_open()) return;
    for (const Notice& notice : work.notices().all()) {
        if (notice.is_trouble && notice.stands) throw Error(ErrorCode::output, notice.line);
    }
}

}  // namespace echolux
