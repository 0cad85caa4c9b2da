// Operation `catheter`: corrects the uneven rotation of a catheter, shows pullbacks in space, and measures the lumen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "app/operations/geometry_parts.h"
#include "app/operations/operation.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/catheter/rotation.h"
#include "engine/geometry/dewarp.h"
#include "engine/io/number_file.h"
#include "engine/memory.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {
namespace {

constexpr std::string_view angles_heading = "frame,a_scan,angle_deg\n";
constexpr std::string_view lumen_heading = "frame,z_mm,area_mm2,mean_radius_um,min_radius_um,max_radius_um,seen\n";
constexpr std::string_view contour_heading = "frame,a_scan,angle_deg,radius_um\n";

struct Catheter {
    VolumeInput input, scan;
    CatheterRecipe catheter;
    BeamGeometry geometry;
    std::string fiducials;
    double voxel_um = 0;
    OperationOutput output, cylinder, angles, lumen, contours;

    Rotation rotation;
    Sheath sheath;
    std::optional<double> zero_radius_um;
    std::vector<LumenContour> found;

    static void describe(OperationParts<Catheter>& parts);

    void run(Context& context) {
        Volume volume = context.volume_to_change(input);
        KnownGeometry known = known_geometry(input, volume, scan);
        take_arguments(context, known.beam);
        require_turns(volume.grid);
        constexpr std::int64_t bytes_a_voxel = 20;  // intensity, contrast, means and uniform turns
        require_memory(volume.grid.voxels() * bytes_a_voxel, "the rotation of " + input.name(), "crop it first");
        const std::vector<float> power = power_of(volume, StoredAs::automatic);
        sheath = found_sheath(power, volume.grid);
        find_axis(known.beam, volume.grid);
        const std::int64_t first_row = sheath.is_found() ? std::llround(sheath.row) + 6 : 0;
        rotation = with_file_context(input.name(), "volume", [&] {
            return found_rotation(power, volume.grid, first_row, catheter, marks(volume.grid), context.progress);
        });
        const std::vector<float> turns = uniform_turns(power, volume.grid, rotation);
        report(context);
        if (angles.is_wanted()) context.write(angles, angle_table(volume.grid));
        if (lumen.is_wanted() || contours.is_wanted()) measure(context, turns, volume.grid);
        store(volume, turns);
        if (cylinder.is_wanted()) write_cylinder(context, volume, known);
        if (output.is_wanted()) context.write(output, std::move(volume));
    }

    void take_arguments(const Context& context, BeamGeometry& beam) const {
        Settings settings;
        settings.bind("geometry", beam);
        for (const std::string& assignment : context.assigned) {
            if (assignment.starts_with("geometry.")) settings.set_assignment(assignment);
        }
        beam.polar = true;
    }

    void require_turns(const VolumeGrid& grid) const {
        constexpr std::int64_t min_a_scans = 32;
        if (grid.a_scans >= min_a_scans) return;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {} per turn, {} are needed", plural(grid.a_scans, "A-scans"), min_a_scans),
                    input.name(), "use a pullback in which every B-scan is a turn");
    }

    void require_pitch(const VolumeGrid& grid) const {
        if (grid.spacing_um[0] > 0) return;
        throw Error(ErrorCode::bad_setting, "the depth pitch is unknown", input.name(), "set depth_pitch_um");
    }

    std::vector<Fiducial> marks(const VolumeGrid& grid) const {
        std::vector<Fiducial> all;
        if (fiducials.empty()) return all;
        const std::vector<double> table = read_calibration(fiducials, 0, "fiducials", 3);
        for (std::size_t i = 0; i < table.size(); i += 3) {
            constexpr double max_mark = 1000;
            const auto is_within = [&](std::size_t column, double end) {
                return table[i + column] >= 0 && table[i + column] < end;
            };
            if (!is_within(0, static_cast<double>(grid.b_scans)) || !is_within(1, static_cast<double>(grid.a_scans)) ||
                !is_within(2, max_mark)) {
                throw Error(ErrorCode::bad_file, fmt::format("mark {} is out of range", i / 3 + 1), fiducials,
                            "write frame, A-scan and the number of the mark, counted from 0");
            }
            all.push_back({table[i], table[i + 1], table[i + 2]});
        }
        return all;
    }

    // The sheath states where the axis is; otherwise the geometry does.
    void find_axis(BeamGeometry& beam, const VolumeGrid& grid) {
        if (catheter.sheath_um > 0) {
            if (!sheath.is_found()) {
                throw Error(
                    ErrorCode::bad_setting,
                    fmt::format("shows no sheath: the brightest line is {:.1f} dB above its surroundings in {:.0f} % "
                                "of the A-scans (6 dB in 50 % are needed)",
                                sheath.above_db, 100 * sheath.share),
                    input.name(), "set geometry.zero_radius_um instead of catheter.sheath_um");
            }
            require_pitch(grid);
            beam.zero_radius_um = catheter.sheath_um - grid.first_depth_um - sheath.row * grid.spacing_um[0];
        }
        if (beam.zero_radius_um != 0) zero_radius_um = beam.zero_radius_um;
    }

    void report(Context& context) const {
        context.say(
            fmt::format("rotation {:.2f} A-scans rms from uniform; {} speeds, {} shifts between frames ({:.2f} "
                        "A-scans rms, correlation {:.2f})",
                        rotation.rms_a_scans, rotation.speeds, rotation.frame_shifts, rotation.frame_rms,
                        rotation.frame_correlation));
        constexpr std::int64_t lines_a_speed = 32;  // a quarter of the places
        if (rotation.speeds * lines_a_speed < std::ssize(rotation.angle))
            context.warn({"speckle shows few speeds, so a deviation that is the same in all turns is not corrected"});
        if (sheath.is_found()) context.say(fmt::format("sheath at row {:.2f}, {:.1f} dB", sheath.row, sheath.above_db));
    }

    double known_axis(const char* what) const {
        if (zero_radius_um) return *zero_radius_um;
        throw Error(ErrorCode::bad_setting, fmt::format("{} needs the axis of the catheter, which is unknown", what),
                    input.name(), "set catheter.sheath_um, or geometry.zero_radius_um");
    }

    void measure(Context& context, const std::vector<float>& turns, const VolumeGrid& grid) {
        require_pitch(grid);
        found = lumen_contours(turns, grid, known_axis("the lumen"), context.progress);
        if (lumen.is_wanted()) context.write(lumen, lumen_table(grid));
        if (contours.is_wanted()) context.write(contours, contour_table(grid));
    }

    // Replaces the voxels by uniform turns.
    void store(Volume& volume, const std::vector<float>& turns) const {
        const StoredPower stored = stored_power(volume.grid, StoredAs::automatic);
        volume.grid.type = VoxelType::f32;
        StoredPower plain = stored;
        plain.scale = volume.grid.scale = 1;
        plain.offset = volume.grid.offset = 0;
        volume.voxels.resize(index(volume.grid.bytes()));
        auto* const values = reinterpret_cast<float*>(volume.voxels.data());
        for (std::size_t i = 0; i < turns.size(); ++i)
            values[i] = turns[i] == turns[i] ? static_cast<float>(plain.code(turns[i])) : turns[i];
        volume.provenance["catheter"] = section_toml("catheter", catheter);
        volume.provenance["geometry.polar"] = "true";
        if (zero_radius_um) volume.provenance["geometry.zero_radius_um"] = spelled(Value(*zero_radius_um));
    }

    void write_cylinder(Context& context, const Volume& volume, KnownGeometry& known) {
        known_axis("the view in space");
        const BeamMap map = with_file_context(
            input.name(), "volume", [&] { return BeamMap(known.beam, known.scan, volume.grid, known.fast_axis); });
        DewarpRecipe recipe;
        if (voxel_um > 0) recipe.voxel_um = {voxel_um};
        DewarpedVolume made = dewarped(volume, map, recipe, context.progress);
        std::erase_if(made.volume.provenance, [](const auto& entry) { return entry.first.starts_with("geometry."); });
        made.volume.provenance["dewarp"] = section_toml("dewarp", recipe);
        made.volume.provenance["dewarp.geometry"] = section_toml("geometry", known.beam);
        context.write(cylinder, std::move(made.volume));
    }

    // ---- Tables

    static std::string cell(double value, int digits) {
        return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : std::string();
    }

    std::string angle_table(const VolumeGrid& grid) const {
        std::string text(angles_heading);
        for (std::size_t i = 0; i < rotation.angle.size(); ++i) {
            const auto per_turn = static_cast<std::size_t>(grid.a_scans);
            fmt::format_to(std::back_inserter(text), "{},{},{:.4f}\n", i / per_turn, i % per_turn,
                           360 * rotation.angle[i] / static_cast<double>(grid.a_scans));
        }
        return text;
    }

    std::string lumen_table(const VolumeGrid& grid) const {
        std::string text(lumen_heading);
        for (std::size_t f = 0; f < found.size(); ++f) {
            const LumenContour& one = found[f];
            text += fmt::format("{},{:.4f},{},{},{},{},{:.3f}\n", f, static_cast<double>(f) * grid.spacing_um[2] / 1000,
                                cell(one.area_mm2, 5), cell(one.mean_um, 2), cell(one.min_um, 2), cell(one.max_um, 2),
                                one.seen);
        }
        return text;
    }

    std::string contour_table(const VolumeGrid& grid) const {
        std::string text(contour_heading);
        for (std::size_t f = 0; f < found.size(); ++f) {
            for (std::size_t a = 0; a < found[f].radius_um.size(); ++a) {
                fmt::format_to(std::back_inserter(text), "{},{},{:.3f},{}\n", f, a,
                               360.0 * static_cast<double>(a) / static_cast<double>(grid.a_scans),
                               cell(static_cast<double>(found[f].radius_um[a]), 2));
            }
        }
        return text;
    }

    // ---- Results

    std::optional<double> sheath_row() const { return sheath.is_found() ? std::optional(sheath.row) : std::nullopt; }

    std::optional<double> mean_area_mm2() const {
        double sum = 0, count = 0;
        for (const LumenContour& one : found) {
            if (std::isfinite(one.area_mm2)) sum += one.area_mm2, count += 1;
        }
        return count > 0 ? std::optional(sum / count) : std::nullopt;
    }
};

void Catheter::describe(OperationParts<Catheter>& parts) {
    parts.info.summary = "Correct the rotation of a catheter, show pullbacks in space, measure the lumen";
    parts.info.examples = {"input=pullback.nrrd output=straight.nrrd cylinder=space.nrrd lumen=lumen.csv"};
    parts.info.details =
        "Finds the angle of every A-scan from the decorrelation of speckle (N. Uribe-Patarroyo, B. E. Bouma, Opt. "
        "Lett. "
        "40(23), 2015), from neighbouring frames and from fiducials. Every B-scan is a turn, depth runs outwards. See "
        "docs/catheter.md.";
    parts.input({.name = "input", .help = "pullback: volume file or scan"}, &Catheter::input)
        .input(geometry_files("files with sections [scan] or [geometry]; later ones have priority"), &Catheter::scan)
        .argument(text("fiducials", &Catheter::fiducials, Effect::file,
                       "CSV file with frame, A-scan and number of a mark that does not rotate with the catheter")
                      .file()
                      .written_as("FILE.csv"))
        .argument(number("voxel_um", &Catheter::voxel_um, 0, 1e5, "um", Effect::file,
                         "size of a voxel of `cylinder`; 0: the spacings of the pullback")
                      .special(0, "auto"))
        .output({.name = "output", .help = "the pullback with uniform turns, f32"}, &Catheter::output)
        .output({.name = "cylinder", .help = "the pullback in space: x and y across the catheter, z along it"},
                &Catheter::cylinder)
        .output({.name = "angles",
                 .kind = OutputKind::table,
                 .help = "table of the angle of every A-scan",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, angles_heading); }},
                &Catheter::angles)
        .output({.name = "lumen",
                 .kind = OutputKind::table,
                 .help = "table with area and radii of the lumen per frame",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, lumen_heading); }},
                &Catheter::lumen)
        .output({.name = "contours",
                 .kind = OutputKind::table,
                 .help = "table with the radius of the lumen per angle; empty where the wall is not seen",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, contour_heading); }},
                &Catheter::contours)
        .section("catheter", "Catheter", &Catheter::catheter)
        .section("geometry", "Geometry", &Catheter::geometry)
        .result("rms_a_scans", "A-scans", "deviation from uniform rotation",
                [](const Catheter& one) { return one.rotation.rms_a_scans; })
        .result("frame_rms_a_scans", "A-scans", "distance of the shifts between frames from the solution",
                [](const Catheter& one) { return one.rotation.frame_rms; })
        .result("frame_correlation", "", "median correlation of neighbouring frames",
                [](const Catheter& one) { return one.rotation.frame_correlation; })
        .result("sheath_row", "rows", "row of the sheath; none: not found", &Catheter::sheath_row)
        .result("zero_radius_um", "um", "distance from the axis to zero delay; none: unknown",
                &Catheter::zero_radius_um)
        .result("mean_area_mm2", "mm2", "mean area of the lumen", &Catheter::mean_area_mm2);
}

}  // namespace

ECHOLUX_OPERATION(catheter, Catheter)

}  // namespace echolux
