#include "engine/acquire/alike_sources.h"

#include <fmt/format.h>

#include <string_view>

#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

// The properties of the first source are used for the blocks of all.
void require_alike(const Source& first, const Source& other) {
    const auto refuse = [&](std::string_view what, const char* remedy = "set both instruments to the same scan") {
        throw Error(ErrorCode::bad_setting, fmt::format("differs from {} in {}", first.name(), what), other.name(),
                    remedy);
    };
    const ScanGeometry &a = first.scan().geometry, &b = other.scan().geometry;
    if (a.samples != b.samples) refuse("the samples of a line");
    if (a.a_scans != b.a_scans || a.a_repeats != b.a_repeats) refuse("the lines of a B-scan");
    if (a.b_scans != b.b_scans || a.b_repeats != b.b_repeats) refuse("the B-scans of a volume");
    if (a.flyback_lines != b.flyback_lines) refuse("the lines of its flyback");
    if (a.flyback_frames + b.flyback_frames > 0) {
        throw Error(ErrorCode::bad_setting, "frames of the flyback cannot be joined", other.name(),
                    "record them as lines, or leave them out");
    }
    if (a.line_rate_hz != b.line_rate_hz) refuse("the line rate");
    if (first.scan().file.frame_offset_bytes != other.scan().file.frame_offset_bytes) refuse("the headers of B-scans");
    if (!has_same_settings(first.scan().format, other.scan().format)) refuse("the format of its samples");
    if (first.block_b_scans() != other.block_b_scans()) refuse("the B-scans of a block");
    for (const Field<ScanGeometry>& field : describe<ScanGeometry>()) {
        if (field.name != "volumes" && field.get(a) != field.get(b)) refuse(fmt::format("scan.{}", field.name));
    }
    if (!is_same_calibration(first.scan().calibration, other.scan().calibration))
        refuse("its calibration", "give both the same calibration files");
}

}  // namespace

void require_alike(const std::vector<std::unique_ptr<Source>>& parts) {
    for (const auto& part : parts) require_alike(*parts.front(), *part);
}

}  // namespace echolux
