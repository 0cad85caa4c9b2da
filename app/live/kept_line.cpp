#include "app/live/kept_line.h"

#include <fmt/format.h>

#include "compute/counted.h"

namespace echolux {

std::string kept_line(const LiveSlots& slots, std::int64_t keep_bytes, const std::string& why_none) {
    const double gb = 1e-9 * static_cast<double>(slots.slot_bytes);
    if (slots.kept > 0) {
        return fmt::format("the last {} are kept in {:.3g} GB of memory",
                           counted(static_cast<std::int64_t>(slots.kept), "volumes"),
                           gb * static_cast<double>(slots.kept));
    }
    if (!why_none.empty()) return "no volumes are kept: " + why_none;
    return fmt::format("no volumes are kept: one takes {:.3g} GB; {}", gb,
                       keep_bytes < slots.slot_bytes ? "raise `source.keep_gb` or make volumes smaller"
                                                     : "not as much memory is free; make volumes smaller");
}

}  // namespace echolux
