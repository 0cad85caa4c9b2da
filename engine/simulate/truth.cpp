#include "engine/simulate/truth.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <span>
#include <string>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "engine/io/atomic_file.h"
#include "engine/io/regular_file.h"
#include "engine/scan/scan_pattern.h"
#include "engine/scan/settings.h"
#include "engine/simulate/motion.h"

namespace echolux {

template <>
const std::vector<Field<TruthFacts>>& describe<TruthFacts>() {
    using S = TruthFacts;
    constexpr Effect effect = Effect::file;
    constexpr std::int64_t max = std::int64_t{1} << 20;
    constexpr double far = 1e9;
    static const std::vector<Field<S>> fields{
        text("scene", &S::scene, effect, "imaged scene"),
        integer("a_scans", &S::a_scans, 0, max, "", effect, "A-scans in a B-scan"),
        integer("b_scans", &S::b_scans, 0, max, "", effect, "B-scans in a volume"),
        integer("depth_bins", &S::depth_bins, 0, max, "", effect, "rows of labels.u8"),
        number("pitch_um", &S::pitch_um, 0, far, "um", effect, "of a depth bin, in the medium"),
        number("spacing_a_um", &S::spacing_a_um, 0, far, "um", effect, "between A-scans"),
        number("spacing_b_um", &S::spacing_b_um, 0, far, "um", effect, "between B-scans"),
        integer("boundaries", &S::boundaries, 0, 99, "", effect, "height maps in boundaries_um.f32"),
        numbers("tube_radius_um", &S::tube_radius_um, 0, far, "um", effect, "of each lumen"),
        numbers("tube_peak_mm_s", &S::tube_peak_mm_s, -far, far, "mm/s", effect,
                "speed along the slow axis in the middle of each lumen, mean over time"),
        number("heart_rate_hz", &S::heart_rate_hz, 0, far, "Hz", effect, "0: steady"),
        number("pulsation", &S::pulsation, 0, 1, "", effect, "speed = mean * (1 + pulsation * sin(2 pi heart_rate t))"),
        numbers("reflector_um", &S::reflector_um, 0, far, "um", effect, "depths"),
        numbers("reflector_amplitude", &S::reflector_amplitude, 0, 1, "", effect,
                "fringe relative to the reference light, without roll-off and focus"),
    };
    return fields;
}

namespace {

constexpr const char *boundaries_name = "boundaries_um.f32", *axes_name = "tubes.f32", *labels_name = "labels.u8",
                     *en_face_name = "en_face.u8", *facts_name = "truth.toml";

// Returns the label at a point of the scene. `heights` are those of all boundaries at (x, y).
std::uint8_t label_at(const Scenery& scenery, const std::vector<double>& heights, double x, double y, double z) {
    for (std::size_t t = 0; t < scenery.tubes.size(); ++t) {
        const Tube& tube = scenery.tubes[t];
        const double distance = std::hypot(x - scenery.x_um(tube, y), z - scenery.z_um(tube, y));
        const auto number = static_cast<std::uint8_t>(t);
        if (distance < tube.radius_um) return lumen_label + number;
        if (distance < tube.radius_um + tube.wall_um) return wall_label + number;
    }
    for (std::size_t i = 0; i + 1 < heights.size(); ++i) {
        if (z >= heights[i] && z < heights[i + 1]) return static_cast<std::uint8_t>(i + 1);
    }
    return 0;
}

// Positions of the volume's A-scans in the scene.
class ScenePositions {
  public:
    ScenePositions(const Simulation& simulation, const Scenery& scenery)
        : scenery_(scenery), pattern_(simulation, field_size(simulation)) {}

    FieldPoint operator()(std::int64_t b_scan, std::int64_t a_scan) const {
        return scenery_.in_scene(pattern_.point(b_scan, static_cast<double>(a_scan)));
    }

  private:
    const Scenery& scenery_;
    ScanPattern pattern_;
};

// Calls use(row) with the heights of one boundary over one B-scan, in um.
template <class Use>
void each_boundary_row(const TruthFacts& facts, const Scenery& scenery, const ScenePositions& places, const Use& use) {
    std::vector<float> row(index(facts.a_scans));
    for (const Boundary& boundary : scenery.boundaries) {
        for (std::int64_t b = 0; b < facts.b_scans; ++b) {
            for (std::int64_t a = 0; a < facts.a_scans; ++a) {
                const auto [x, y] = places(b, a);
                row[index(a)] = static_cast<float>(scenery.height_um(boundary, x, y));
            }
            use(std::span(row));
        }
    }
}

// Calls use(row) with the axis of one tube next to one B-scan.
template <class Use>
void each_axis_row(const TruthFacts& facts, const Scenery& scenery, const ScenePositions& places, const Use& use) {
    std::vector<Truth::Axis> row(index(facts.a_scans));
    for (const Tube& tube : scenery.tubes) {
        for (std::int64_t b = 0; b < facts.b_scans; ++b) {
            for (std::int64_t a = 0; a < facts.a_scans; ++a) {
                const auto [x, y] = places(b, a);
                row[index(a)] = {static_cast<float>(scenery.x_um(tube, y) - x),
                                 static_cast<float>(scenery.z_um(tube, y)),
                                 static_cast<float>(scenery.z_slope(tube, y))};
            }
            use(std::span(row));
        }
    }
}

// Calls use(labels, lumen) per A-scan with the labels of its bins and whether one of them is a lumen.
template <class Use>
void each_labelled_line(const TruthFacts& facts, const Scenery& scenery, const ScenePositions& places, const Use& use) {
    std::vector<std::uint8_t> labels(index(facts.depth_bins));
    std::vector<double> heights(scenery.boundaries.size());
    for (std::int64_t b = 0; b < facts.b_scans; ++b) {
        for (std::int64_t a = 0; a < facts.a_scans; ++a) {
            const auto [x, y] = places(b, a);
            for (std::size_t i = 0; i < heights.size(); ++i) {
                heights[i] = scenery.height_um(scenery.boundaries[i], x, y);
            }
            std::uint8_t lumen = 0;
            for (std::size_t bin = 0; bin < labels.size(); ++bin) {
                labels[bin] = label_at(scenery, heights, x, y, static_cast<double>(bin) * facts.pitch_um);
                if (labels[bin] >= lumen_label && labels[bin] < wall_label) lumen = 1;
            }
            use(std::span(labels), lumen);
        }
    }
}

template <class T>
std::vector<T> read_array(const std::filesystem::path& path, std::int64_t count) {
    const std::uintmax_t wanted = static_cast<std::uintmax_t>(count) * sizeof(T);
    std::error_code problem;
    const std::uintmax_t there = std::filesystem::file_size(path, problem);
    if (problem || there != wanted) {
        throw Error(
            ErrorCode::bad_file,
            problem ? "cannot be read" : "holds " + std::to_string(there) + " bytes, not " + std::to_string(wanted),
            path.string(), "simulate the scan again");
    }
    std::vector<T> values(index(count));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(values));
    std::ifstream file = regular_stream(path);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) throw Error(ErrorCode::bad_file, "cannot be read", path.string());
    return values;
}

}  // namespace

TruthFacts facts_of(const Simulation& s, const Scenery& scenery, double pitch_um) {
    TruthFacts facts;
    facts.scene = std::get<std::string>(value_of(s, "scene"));
    facts.a_scans = s.a_scans;
    facts.b_scans = s.b_scans;
    facts.depth_bins = s.samples / 2;
    facts.pitch_um = pitch_um;
    facts.spacing_a_um = s.spacing_a_um;
    facts.spacing_b_um = s.spacing_b_um;
    facts.boundaries = std::ssize(scenery.boundaries);
    for (const Tube& tube : scenery.tubes) {
        facts.tube_radius_um.push_back(tube.radius_um);
        facts.tube_peak_mm_s.push_back(tube.peak_mm_s);
    }
    facts.heart_rate_hz = scenery.heart_rate_hz;
    facts.pulsation = scenery.pulsation;
    for (const Reflector& reflector : scenery.reflectors) {
        facts.reflector_um.push_back(reflector.depth_um);
        facts.reflector_amplitude.push_back(reflector.amplitude);
    }
    return facts;
}

double Truth::boundary_bin(std::int64_t boundary, std::int64_t a_scan, std::int64_t b_scan) const {
    const std::int64_t at = (boundary * facts.b_scans + b_scan) * facts.a_scans + a_scan;
    return static_cast<double>(boundaries_um.at(index(at))) / facts.pitch_um;
}

double Truth::axial_velocity_mm_s(std::int64_t a_scan, std::int64_t b_scan, double depth_um, double time_s) const {
    const double beat = 1 + facts.pulsation * std::sin(2 * std::numbers::pi * facts.heart_rate_hz * time_s);
    for (std::size_t t = 0; t < facts.tube_radius_um.size(); ++t) {
        const std::int64_t b = static_cast<std::int64_t>(t) * facts.b_scans + b_scan;
        const Axis& axis = axes.at(index(b * facts.a_scans + a_scan));
        const double r = std::hypot(static_cast<double>(axis.x_um), depth_um - static_cast<double>(axis.z_um)) /
                         facts.tube_radius_um[t];
        if (r < 1) return facts.tube_peak_mm_s[t] * (1 - r * r) * beat * static_cast<double>(axis.z_slope);
    }
    return 0;
}

Truth truth_of(const Simulation& simulation, const Scenery& scenery, double pitch_um) {
    Truth truth;
    truth.facts = facts_of(simulation, scenery, pitch_um);
    const ScenePositions places(simulation, scenery);
    const auto append_to = [](auto& all) {
        return [&all](const auto& row) { all.insert(all.end(), row.begin(), row.end()); };
    };
    each_boundary_row(truth.facts, scenery, places, append_to(truth.boundaries_um));
    each_axis_row(truth.facts, scenery, places, append_to(truth.axes));
    each_labelled_line(truth.facts, scenery, places, [&](const auto& labels, std::uint8_t lumen) {
        append_to(truth.labels)(labels);
        truth.en_face.push_back(lumen);
    });
    return truth;
}

std::string toml_of(const TruthFacts& facts) {
    return section_toml("truth", facts);
}

std::vector<std::filesystem::path> truth_files(const std::filesystem::path& folder) {
    return {folder / boundaries_name, folder / axes_name,   folder / labels_name,     folder / en_face_name,
            folder / facts_name,      folder / motion_name, folder / motion_rows_name};
}

// Writes row by row, so that memory does not grow with the scan.
void write_truth(const std::filesystem::path& folder, const Simulation& simulation, const Scenery& scenery,
                 double pitch_um) {
    const TruthFacts facts = facts_of(simulation, scenery, pitch_um);
    const ScenePositions places(simulation, scenery);
    OutputFile boundaries(folder / boundaries_name);
    const auto write_to = [](OutputFile& file) { return [&file](const auto& row) { file.write(std::as_bytes(row)); }; };
    each_boundary_row(facts, scenery, places, write_to(boundaries));
    boundaries.commit();
    OutputFile axes(folder / axes_name);
    each_axis_row(facts, scenery, places, write_to(axes));
    axes.commit();
    OutputFile labels_file(folder / labels_name), en_face_file(folder / en_face_name);
    each_labelled_line(facts, scenery, places, [&](const auto& labels, std::uint8_t lumen) {
        labels_file.write(std::as_bytes(labels));
        en_face_file.write(std::as_bytes(std::span(&lumen, 1)));
    });
    labels_file.commit();
    en_face_file.commit();
    write_motion(folder, simulation);
    const std::string toml = toml_of(facts);
    OutputFile file(folder / facts_name);
    file.write(std::as_bytes(std::span(toml)));
    file.commit();
}

Truth read_truth(const std::filesystem::path& folder) {
    Truth truth;
    TruthFacts& facts = truth.facts;
    Settings settings;
    settings.bind("truth", facts);
    settings.read_toml(folder / facts_name);
    const std::int64_t lines = facts.a_scans * facts.b_scans;
    const auto tubes = std::ssize(facts.tube_radius_um);
    if (facts.tube_peak_mm_s.size() != facts.tube_radius_um.size()) {
        throw Error(ErrorCode::bad_file, "tube_peak_mm_s and tube_radius_um differ in length",
                    (folder / facts_name).string(), "simulate the scan again");
    }
    truth.boundaries_um = read_array<float>(folder / boundaries_name, facts.boundaries * lines);
    truth.axes = read_array<Truth::Axis>(folder / axes_name, tubes * lines);
    truth.labels = read_array<std::uint8_t>(folder / labels_name, lines * facts.depth_bins);
    truth.en_face = read_array<std::uint8_t>(folder / en_face_name, lines);
    return truth;
}

// ---- Writes the motion of a simulated scan as CSV: a row per acquired line, including flyback, and the means over the
// lines of each B-scan.

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
    const ScanPattern pattern(s, field_size(s));
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
            if (line < s.lines_per_b_scan()) mean.add(time_s, moved, is_saccade);
        }
        write(lines, text);
        write(rows, mean.row(frame / pattern.frames(), frame % pattern.frames()));
    }
    lines.commit();
    rows.commit();
}

// ---- Returns the true axial velocities on the grid of a volume.

Volume true_flow(const Truth& truth, const VolumeGrid& grid) {
    if (grid.a_scans != truth.facts.a_scans || grid.b_scans != truth.facts.b_scans || !(grid.spacing_um[0] > 0)) {
        throw Error(ErrorCode::bad_setting, "the volume and the truth have different scans", "true flow",
                    "reconstruct all of the simulated scan");
    }
    constexpr double at_rest_of_beat_s = 0;  // time at which the pulse is at its mean
    Volume flow;
    flow.grid = grid;
    flow.grid.type = VoxelType::f32;
    flow.grid.scale = 1;
    flow.grid.offset = 0;
    flow.grid.quantity = "velocity";
    flow.grid.unit = "mm/s";
    flow.voxels.resize(index(flow.grid.bytes()));
    auto* const velocities = reinterpret_cast<float*>(flow.voxels.data());
    parallel_for(0, grid.b_scans, [&](std::int64_t b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            float* const line = velocities + (b * grid.a_scans + a) * grid.depth;
            for (std::int64_t z = 0; z < grid.depth; ++z) {
                const double depth_um = grid.first_depth_um + static_cast<double>(z) * grid.spacing_um[0];
                line[z] = static_cast<float>(truth.axial_velocity_mm_s(a, b, depth_um, at_rest_of_beat_s));
            }
        }
    });
    return flow;
}

}  // namespace echolux
