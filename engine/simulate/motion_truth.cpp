// Writes the motion of a simulated scan as CSV: a row per acquired line, including flyback, and the means over the
// lines of each B-scan.
#include <fmt/format.h>

#include <span>
#include <string>

#include "engine/io/output_file.h"
#include "engine/scan/scan_pattern.h"
#include "engine/simulate/motion.h"

namespace echolux {
namespace {

constexpr const char* line_heading =
    "# echolux motion: the beam over the tissue (x, y), the tissue in depth (z)\n"
    "line,t_s,x_um,y_um,z_um,in_saccade\n";
constexpr const char* row_heading =
    "# echolux motion: means over the lines of each acquired B-scan\n"
    "volume,frame,t_s,x_um,y_um,z_um,in_saccade\n";

void write(OutputFile& file, const std::string& text) {
    file.write(std::as_bytes(std::span(text)));
}

// Means over the lines of one B-scan.
struct RowMean {
    double time_s = 0, in_saccade = 0;
    Displacement sum;
    double lines = 0;

    void add(double at_s, const Displacement& moved, bool is_saccade) {
        time_s += at_s;
        in_saccade += is_saccade ? 1 : 0;
        sum = {sum.x_um + moved.x_um, sum.y_um + moved.y_um, sum.z_um + moved.z_um};
        ++lines;
    }
    std::string row(std::int64_t volume, std::int64_t frame) const {
        return fmt::format("{},{},{:.9g},{:.6f},{:.6f},{:.6f},{:.4g}\n", volume, frame, time_s / lines,
                           sum.x_um / lines, sum.y_um / lines, sum.z_um / lines, in_saccade / lines);
    }
};

}  // namespace

void write_motion(const std::filesystem::path& folder, const Simulation& s) {
    const Motion motion(s, duration_s(s));
    if (motion.is_still()) {
        std::error_code ignored;
        std::filesystem::remove(folder / motion_name, ignored);
        std::filesystem::remove(folder / motion_rows_name, ignored);
        return;
    }
    const ScanGeometry geometry = scan_geometry(s);
    const ScanPattern pattern(geometry, field_size(geometry));
    OutputFile lines(folder / motion_name), rows(folder / motion_rows_name);
    write(lines, line_heading);
    write(rows, row_heading);
    for (std::int64_t frame = 0; frame < pattern.frames() * s.volumes; ++frame) {
        RowMean mean;
        std::string text;
        for (std::int64_t line = 0; line < pattern.lines_per_frame(); ++line) {
            const std::int64_t of_all = frame * pattern.lines_per_frame() + line;
            const double time_s = static_cast<double>(of_all) / s.line_rate_hz;
            const Displacement moved = motion.at(time_s);
            const bool is_saccade = motion.is_saccade(time_s);
            text += fmt::format("{},{:.9g},{:.6f},{:.6f},{:.6f},{}\n", of_all, time_s, moved.x_um, moved.y_um,
                                moved.z_um, is_saccade ? 1 : 0);
            if (line < geometry.lines_per_b_scan()) mean.add(time_s, moved, is_saccade);
        }
        write(lines, text);
        write(rows, mean.row(frame / pattern.frames(), frame % pattern.frames()));
    }
    lines.commit();
    rows.commit();
}

}  // namespace echolux
