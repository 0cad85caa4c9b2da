// A bench report for programs; docs/performance.md lists the keys.
#pragma once

#include <string>

#include "bench/report.h"

namespace echolux {

// One JSON object, of lines.
std::string json_of(const BenchReport& report);

}  // namespace echolux
