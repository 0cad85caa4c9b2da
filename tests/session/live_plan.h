// A small scan as described by a live source.
#pragma once

#include "engine/scan/scan.h"

namespace echolux::test {

inline Scan live_scan() {
    Scan scan;
    scan.path = "live.toml";
    scan.geometry.samples = 64;
    scan.geometry.a_scans = 3;
    scan.geometry.b_scans = 4;
    scan.geometry.line_rate_hz = 1000;
    return scan;
}

}  // namespace echolux::test
