// A small scan as described by a live source.
#pragma once

#include "engine/scan/scan.h"
#include "tests/support/set_fields.h"

namespace echolux::test {

inline Scan live_scan() {
    Scan scan = with(Scan{}, "samples=64 a_scans=3 b_scans=4 line_rate_hz=1000");
    scan.path = "live.toml";
    return scan;
}

}  // namespace echolux::test
