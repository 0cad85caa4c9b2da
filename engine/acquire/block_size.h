// How spectra are cut into blocks, and how many of these may be in use at a time, where the settings leave it open:
// small enough that nobody waits long for one, and so many that the last volume can be kept while others come.
#pragma once

#include "engine/acquire/source.h"

namespace echolux {

constexpr std::int64_t volumes_in_use = 4;  // kept, worked on, waiting, arriving

// Both take scans that have not been validated yet.

// B-scan positions of a block, at most those of a volume: at most 16 MiB and, where the line rate is known, a sixtieth
// of a second, but at least one. `line_rate_hz` 0: unknown.
std::int64_t block_size(const SourceSettings& settings, const Scan& scan, double line_rate_hz);

// Blocks of that size: those of `volumes_in_use` volumes and a few more, in at most half of the memory that is free.
std::int64_t pool_size(const SourceSettings& settings, const Scan& scan, std::int64_t block_b_scans);

}  // namespace echolux
