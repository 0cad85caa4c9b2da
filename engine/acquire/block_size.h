// Default block size and pool size. Blocks are small for low latency; the pool is large enough to keep the last volume
// while others arrive.
#pragma once

#include "engine/acquire/source.h"

namespace echolux {

constexpr std::int64_t volumes_in_use = 4;  // kept, processed, queued, arriving

// Both functions accept scans that have not been validated.

// Returns the number of B-scan positions per block, up to those of a volume. The default is limited to 16 MiB and, if
// the line rate is known, 1/60 s. `line_rate_hz` is 0 if unknown.
std::int64_t block_size(const SourceSettings& settings, const Scan& scan, double line_rate_hz);

// Returns the number of blocks of that size: enough for `volumes_in_use` volumes and a few more, within half of the
// free memory.
std::int64_t pool_size(const SourceSettings& settings, const Scan& scan, std::int64_t block_b_scans);

}  // namespace echolux
