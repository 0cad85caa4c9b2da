// Tells whether the displayed volume is changing, in which case pictures wait and no jobs are started for it.
#pragma once

#include "app/stage/exhibit.h"
#include "app/stage/kept_time.h"
#include "app/stage/live_session.h"

namespace echolux {

// Returns true if new voxels arrive by themselves: during playback or while a session acquires.
inline bool is_changing(Exhibit& exhibit) {
    const bool plays = exhibit.timeline() != nullptr && exhibit.timeline()->plays();
    const LiveSession* live = exhibit.live();
    const bool stands_still = exhibit.kept_time() != nullptr && exhibit.kept_time()->is_paused();
    return plays || (live != nullptr && !live->is_recorded() && live->is_running() && !stands_still);
}

}  // namespace echolux
