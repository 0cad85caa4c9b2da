// Converts scan patterns to the plugin interface.
#include "engine/acquire/plugin_device.h"

#include <cstdint>
#include <vector>

#include "engine/scan/scan_pattern.h"

namespace echolux {
namespace {

constexpr std::int64_t max_points = std::int64_t{1} << 27;  // 1.2 GB

// Flyback frames (from `frames_sent`) are not part of blocks.
std::uint8_t marks_of(const PatternLine& line, std::int64_t frames_sent) {
    int marks = line.is_flyback ? ECHOLUX_MARK_FLYBACK : 0;
    if (line.line == 0) marks |= ECHOLUX_MARK_FRAME;
    if (line.line == 0 && line.frame == 0) marks |= ECHOLUX_MARK_VOLUME;
    if (line.frame < frames_sent) marks |= ECHOLUX_MARK_SENT;
    return static_cast<std::uint8_t>(marks);
}

}  // namespace

void play_pattern(PluginDevice& device, const Scan& scan) {
    const ScanGeometry& geometry = scan.geometry;
    const std::int64_t frames = geometry.frames_per_volume() + geometry.flyback_frames;
    if (frames > max_points / geometry.lines_per_frame()) {
        device.fail("cannot play a pattern of so many lines");
    }
    const ScanPattern way(geometry, field_size(geometry), scan.calibration.fast_axis);
    std::vector<float> x;
    std::vector<float> y;
    std::vector<std::uint8_t> marks;
    for (std::int64_t frame = 0; frame < way.frames(); ++frame) {
        for (std::int64_t line = 0; line < way.lines_per_frame(); ++line) {
            const PatternLine at = way.at(frame, line);
            x.push_back(static_cast<float>(at.beam.x_um));
            y.push_back(static_cast<float>(at.beam.y_um));
            marks.push_back(marks_of(at, geometry.frames_per_volume()));
        }
    }
    echolux_pattern pattern{};
    pattern.struct_size = sizeof pattern;
    pattern.points = static_cast<std::int64_t>(marks.size());
    pattern.points_per_s = geometry.line_rate_hz;
    pattern.x_um = x.data();
    pattern.y_um = y.data();
    pattern.marks = marks.data();
    device.play(pattern);
}

}  // namespace echolux
