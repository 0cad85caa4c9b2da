// What does not hold still: made pictures wait for it, and nothing lasting is made of it.
#pragma once

#include "app/stage/exhibit.h"
#include "app/stage/kept_time.h"
#include "app/stage/live_session.h"

namespace echolux {

// Whether new voxels come by themselves: time plays, or a session acquires.
inline bool is_changing(Exhibit& exhibit) {
    const bool plays = exhibit.timeline() != nullptr && exhibit.timeline()->plays();
    const LiveSession* live = exhibit.live();
    const bool stands_still = exhibit.kept_time() != nullptr && exhibit.kept_time()->is_paused();
    return plays || (live != nullptr && !live->is_recorded() && live->is_running() && !stands_still);
}

}  // namespace echolux
