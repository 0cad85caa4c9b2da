// Recordings that were cut off (the program killed, a power cut, a full disk): what of them is whole.
#pragma once

#include "engine/scan/scan.h"

namespace echolux {

// Makes `scan`, of a recording that was not finished, end with its last whole block: sets volumes, or B-scans where no
// volume is whole, and the notes. Rows of the index that say more than was known to be on the disk are checked against
// the bytes. Throws Error{bad_file}: index missing; not one whole block.
void end_at_last_whole_block(Scan& scan);

}  // namespace echolux
