#include "engine/simulate/instrument.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/memory.h"
#include "engine/simulate/counter_random.h"

namespace echolux {
namespace {

// Checks the settings and fills in the scene's defaults.
Simulation validated(const Simulation& simulation) {
    check(simulation, "simulation");
    Simulation s = with_scene_defaults(simulation);
    check_protocol(s, "simulation");
    // long double avoids overflow and wraparound
    const long double frame_bytes = 2.0L * s.samples * s.lines_per_frame();
    const long double bytes = frame_bytes * (s.frames_per_volume() + s.flyback_frames) * s.volumes;
    if (frame_bytes >= 0x1p32L) {
        throw Error(ErrorCode::bad_setting, "one B-scan would be larger than 4 GiB", "simulation.a_scans",
                    "choose fewer A-scans, repeats or samples");
    }
    if (bytes > 0x1p50L) {
        throw Error(ErrorCode::bad_setting, "the recording would be larger than a petabyte", "simulation.volumes",
                    "choose fewer volumes, B-scans or A-scans");
    }
    require_memory(static_cast<std::int64_t>(frame_bytes), "simulation", "choose fewer A-scans, repeats or samples");
    return s;
}

// Returns the setting to name in errors if the scene moves too far.
std::string key_of_motion(const Simulation& s) {
    if (!s.motion_file.empty()) return "simulation.motion_file";
    return s.motion_axial_um > 0 ? "simulation.motion_axial_um" : "simulation.motion_lateral_um";
}

// Detours of the optical path over the field, in um of the sample.
ValueRange detours_um(const Simulation& s, const BeamGeometry& beam) {
    constexpr int parts = 32;
    const Polynomial2 path(beam.path_um);
    const FieldSize size = field_size(s);
    ValueRange range{0, 0};
    for (int i = 0; i < parts * parts; ++i) {
        const double x = (i % parts / (parts - 1.0) - 0.5) * size.x_um,
                     y = (i / parts / (parts - 1.0) - 0.5) * size.y_um;
        const double detour = path(x / 1000, y / 1000) / s.refractive_index;
        range = {std::min(range.low, detour), std::max(range.high, detour)};
    }
    return range;
}

// Builds the scene, with room for the motion and for detours.
Scenery scenery_of(const Simulation& s, const BeamGeometry& beam, const Spectrometer& spectrometer,
                   const Motion& motion) {
    const double range_um = spectrometer.z_max_um() / s.refractive_index;
    Scenery scenery(s, range_um);
    if (motion.is_still() && beam.path_um.empty()) return scenery;
    Motion::Excursion excursion = motion.is_still() ? Motion::Excursion() : motion.excursion();
    const ValueRange detours = detours_um(s, beam);
    excursion.least.z_um += detours.low;
    excursion.greatest.z_um += detours.high;
    scenery.make_room(excursion, 2 * s.beam_radius_um, range_um,
                      beam.path_um.empty() ? key_of_motion(s) : "geometry.path_um");
    return scenery;
}

BeamGeometry validated(const BeamGeometry& beam) {
    check(beam, "geometry");
    const auto refuse = [](const char* key) {
        throw Error(ErrorCode::bad_setting, "the simulated instrument has parallel beams", key, "leave it out");
    };
    if (beam.pivot_x_mm != 0) refuse("geometry.pivot_x_mm");
    if (beam.pivot_y_mm != 0) refuse("geometry.pivot_y_mm");
    if (beam.polar) refuse("geometry.polar");
    return beam;
}

// Positions of the beam in mm at each line of a volume; empty if they are those of the pattern.
std::vector<FieldPoint> bent_beams(const Simulation& s, const BeamGeometry& beam, const ScanPattern& pattern) {
    std::vector<FieldPoint> real;
    if (beam.pattern != LinePattern::raster) {
        const ScanLineMap lines(beam, s, {s.spacing_a_um / 1000, s.spacing_b_um / 1000}, {});
        for (std::int64_t line = 0; line < pattern.lines(); ++line) {
            const std::int64_t frame = line / pattern.lines_per_frame(), of_frame = line % pattern.lines_per_frame();
            // During a return the beam waits at the last A-scan.
            const std::int64_t b = std::min(frame / s.b_repeats, s.b_scans - 1);
            const std::int64_t a = std::min(of_frame / s.a_repeats, s.a_scans - 1);
            real.push_back(lines.scan(static_cast<double>(a), static_cast<double>(b)));
        }
    }
    if (!beam.has_galvo()) return real;
    std::vector<double> x, y;
    for (std::int64_t line = 0; line < pattern.lines(); ++line) {
        const FieldPoint at = pattern.at(line / pattern.lines_per_frame(), line % pattern.lines_per_frame()).beam;
        x.push_back(at.x_um / 1000);
        y.push_back(at.y_um / 1000);
    }
    const double line_s = 1 / s.line_rate_hz;
    x = galvo_response(x, line_s, beam.delay_x_us * 1e-6, beam.resonance_x_hz, beam.damping_x);
    y = galvo_response(y, line_s, beam.delay_y_us * 1e-6, beam.resonance_y_hz, beam.damping_y);
    for (std::size_t i = 0; i < x.size(); ++i) real.push_back({x[i], y[i]});
    return real;
}

}  // namespace

// Buffers of one thread, reused from line to line.
struct Instrument::Workspace {
    std::optional<FieldPoint> beam;  // beam position of `fixed`
    Blood::Section section;          // section of a line with a unique y
    SlabLists lists;
    std::vector<float> fixed;    // moments of tissue
    std::vector<float> moments;  // moments of tissue and blood
    std::vector<float> fringes, sines;
};

Instrument::Instrument(const Simulation& simulation, const BeamGeometry& beam)
    : s_(validated(simulation)), spectrometer_(s_), motion_(s_, duration_s(s_)),
      renewal_(s_.renewal_s, hashed(seed(), 4)), scenery_(scenery_of(s_, validated(beam), spectrometer_, motion_)),
      pattern_(s_, field_size(s_)), lens_(beam), path_(beam.path_um), has_path_(!beam.path_um.empty()),
      real_mm_(bent_beams(s_, beam, pattern_)), camera_(s_, spectrometer_),
      sum_(spectrometer_, scenery_.deepest_um * s_.refractive_index), arm_(s_, scenery_, spectrometer_, sum_),
      tissue_(arm_, hashed(seed(), 1), renewal_), blood_(arm_, hashed(seed(), 2)) {
    add_reflectors();
}

// Computes the analytic fringes of plane reflectors, which are the same in all lines.
void Instrument::add_reflectors() {
    mirror_fringes_.resize(index(s_.samples));
    mirror_sines_.resize(index(s_.samples));
    for (std::size_t p = 0; p < mirror_fringes_.size(); ++p) {
        double fringe = 0, sine = 0;
        for (const Reflector& reflector : scenery_.reflectors) {
            const double phase = 2 * spectrometer_.k_per_um[p] * s_.refractive_index * reflector.depth_um;
            fringe += reflector.amplitude * arm_.sensitivity(reflector.depth_um) *
                      std::cos(phase + spectrometer_.theta_rad[p]);
            sine += reflector.amplitude * arm_.sensitivity(reflector.depth_um) *
                    std::sin(phase + spectrometer_.theta_rad[p]);
        }
        mirror_fringes_[p] = static_cast<float>(fringe);
        mirror_sines_[p] = static_cast<float>(sine);
    }
}

void Instrument::add(const SlabLists& lists, std::vector<float>& moments) const {
    for (std::int64_t slab = 0; slab < sum_.slabs(); ++slab) {
        const SlabLists::List& list = lists.lists[index(slab)];
        sum_.add(slab, {list.u.data(), list.real.data(), list.imaginary.data(), std::ssize(list.u)}, moments);
    }
}

FieldPoint Instrument::scan_mm(std::int64_t line) const {
    if (!real_mm_.empty()) return real_mm_[index(line)];
    const std::int64_t lines = pattern_.lines_per_frame();
    const FieldPoint at = pattern_.at(line / lines, line % lines).beam;
    return {at.x_um / 1000, at.y_um / 1000};
}

FieldPoint Instrument::beam(std::int64_t line) const {
    const std::int64_t lines = pattern_.lines_per_frame();
    if (real_mm_.empty() && lens_.is_identity()) return scenery_.in_scene(pattern_.at(line / lines, line % lines).beam);
    const FieldPoint at = lens_.field(scan_mm(line));
    return scenery_.in_scene({1000 * at.x_um, 1000 * at.y_um});
}

double Instrument::path_um(std::int64_t line) const {
    if (!has_path_) return 0;
    const FieldPoint at = scan_mm(line);
    return path_(at.x_um, at.y_um) / s_.refractive_index;
}

FieldPoint Instrument::beam_over(std::int64_t volume, std::int64_t line) const {
    const FieldPoint rest = beam(line);
    if (motion_.is_still()) return rest;
    const Displacement moved = motion_.at(time_s(of_all(volume, line)));
    return {rest.x_um + moved.x_um, rest.y_um + moved.y_um};
}

void Instrument::record(std::int64_t volume, std::int64_t first, std::int64_t count, std::span<std::uint16_t> counts,
                        Progress& progress) {
    const std::int64_t begin = first * pattern_.lines_per_frame();
    const std::int64_t end = begin + count * pattern_.lines_per_frame();
    for (std::int64_t line = begin; line < end;) {
        const Run run = run_from(volume, line, end);
        tissue_.prepare(run.box, run.step);
        expose(run, volume,
               counts.subspan(index((run.begin - begin) * s_.samples), index((run.end - run.begin) * s_.samples)),
               progress);
        line = run.end;
    }
}

// Returns a run of lines that needs no more tissue than a few whole B-scans. The limit on its area is generous, because
// the beam reaches across several B-scans anyway.
Instrument::Run Instrument::run_from(std::int64_t volume, std::int64_t begin, std::int64_t end) const {
    const double reach = arm_.reach_um();
    const double max_um2 = (scenery_.width_um + 2 * reach) * (8 * s_.beam_radius_um + 2 * reach);
    const FieldPoint start = beam_over(volume, begin);
    const std::int64_t step = renewal_.step_of(time_s(of_all(volume, begin)));
    Run run{begin, begin, {start.x_um, start.x_um, start.y_um, start.y_um}, step, {}};
    std::vector<double> shared;  // y values of several lines
    double last_y = std::nan("");
    for (; run.end < end; ++run.end) {
        if (renewal_.step_of(time_s(of_all(volume, run.end))) != step) break;
        const auto [x, y] = beam_over(volume, run.end);
        const BeamBox box{std::min(run.box.x_low, x), std::max(run.box.x_high, x), std::min(run.box.y_low, y),
                          std::max(run.box.y_high, y)};
        const double um2 = (box.x_high - box.x_low + 2 * reach) * (box.y_high - box.y_low + 2 * reach);
        if (run.end > begin && um2 > max_um2) break;
        run.box = box;
        if (y == last_y && (shared.empty() || shared.back() != y)) shared.push_back(y);
        last_y = y;
    }
    std::ranges::sort(shared);
    shared.erase(std::ranges::unique(shared).begin(), shared.end());
    std::vector<Blood::Section> sections(shared.size());
    parallel_for(0, std::ssize(shared), [&](std::int64_t i) {
        const auto at = index(i);
        sections[at] = blood_.section(shared[at], run.box.x_low, run.box.x_high);
    });
    for (std::size_t i = 0; i < shared.size(); ++i) run.sections.emplace(shared[i], std::move(sections[i]));
    return run;
}

void Instrument::expose(const Run& run, std::int64_t volume, std::span<std::uint16_t> counts,
                        Progress& progress) const {
    const std::int64_t batch = 16 * s_.a_repeats;  // lines between progress reports
    std::mutex progress_mutex;
    parallel_for(0, (run.end - run.begin + batch - 1) / batch, [&](std::int64_t piece) {
        const std::int64_t begin = run.begin + piece * batch;
        const std::int64_t end = std::min(run.end, begin + batch);
        Workspace work;
        work.lists.lists.resize(index(sum_.slabs()));
        work.fringes.resize(index(s_.samples));
        for (std::int64_t line = begin; line < end; ++line) {
            expose_line(run, volume, line, work,
                        counts.subspan(index((line - run.begin) * s_.samples), index(s_.samples)));
        }
        const std::lock_guard lock(progress_mutex);
        progress.advance(end - begin);
    });
}

void Instrument::expose_line(const Run& run, std::int64_t volume, std::int64_t line, Workspace& work,
                             std::span<std::uint16_t> counts) const {
    const FieldPoint at = beam_over(volume, line);
    if (work.beam != at) {
        work.beam = at;
        work.fixed.assign(sum_.moments(), 0);
        work.lists.clear();
        tissue_.gather(at.x_um, at.y_um, work.lists);
        add(work.lists, work.fixed);
    }
    const std::int64_t number = of_all(volume, line);
    work.moments = work.fixed;
    work.lists.clear();
    blood_.gather(section_at(run, at, work), at.x_um, time_s(number), work.lists);
    add(work.lists, work.moments);
    if (motion_.is_still() && !has_path_) {
        sum_.fringes(work.moments, work.fringes);
        for (std::size_t p = 0; p < work.fringes.size(); ++p) work.fringes[p] += mirror_fringes_[p];
    } else {
        move_in_depth(volume, line, work);
    }
    camera_.expose(work.fringes, static_cast<std::uint64_t>(number), counts);
}

// Applies depth motion and detours to all scatterers at once: a shift z multiplies the analytic fringe at each sample
// by exp(2 i k n z). Averaging over the exposure, one line period around the line's time, reproduces fringe washout.
void Instrument::move_in_depth(std::int64_t volume, std::int64_t line, Workspace& work) const {
    constexpr int parts = 4;  // parts of the exposure
    const double path = path_um(line);
    std::array<double, parts> shift_um{};
    for (int i = 0; i < parts; ++i) {
        const double off = (i + 0.5) / parts - 0.5;
        const double moved =
            motion_.is_still() ? 0 : motion_.at(time_s(of_all(volume, line)) + off / s_.line_rate_hz).z_um;
        shift_um[index(i)] = path + moved;
    }
    work.sines.resize(work.fringes.size());
    sum_.fringes(work.moments, work.fringes, work.sines);
    for (std::size_t p = 0; p < work.fringes.size(); ++p) {
        double cosine = 0, sine = 0;
        for (const double z_um : shift_um) {
            const double phase = 2 * spectrometer_.k_per_um[p] * s_.refractive_index * z_um;
            cosine += std::cos(phase) / parts;
            sine += std::sin(phase) / parts;
        }
        const float real = work.fringes[p] + mirror_fringes_[p], imaginary = work.sines[p] + mirror_sines_[p];
        work.fringes[p] = real * static_cast<float>(cosine) - imaginary * static_cast<float>(sine);
    }
}

const Blood::Section& Instrument::section_at(const Run& run, const FieldPoint& at, Workspace& work) const {
    const auto shared = run.sections.find(at.y_um);
    if (shared != run.sections.end()) return shared->second;
    work.section = blood_.section(at.y_um, at.x_um, at.x_um);
    return work.section;
}

Scan Instrument::scan() const {
    Scan scan;
    scan.file.frame_offset_bytes = 32;
    scan.format.bits = s_.adc_bits;
    scan.geometry = s_;
    scan.recipe.background = Background::stored;
    scan.recipe.a2_rad = s_.a2_rad;
    scan.recipe.a3_rad = s_.a3_rad;
    const double deepest_bin = std::ceil(scenery_.shown_to_um / pitch_um());
    scan.recipe.depth_end = std::min(static_cast<std::int64_t>(deepest_bin), s_.samples / 2);
    return scan;
}

}  // namespace echolux
