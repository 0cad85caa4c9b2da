#include "engine/offline/reconstruction.h"

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "compute/calibrate/calibrate.h"
#include "compute/error.h"
#include "compute/flow/flow_tables.h"
#include "compute/indexing.h"
#include "compute/invalid_lines.h"
#include "compute/methods/defr.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "compute/reason.h"
#include "compute/repeat_report.h"
#include "compute/steps/angiography.h"
#include "engine/io/output_rule.h"
#include "engine/memory.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"
#include "engine/scan/scan_checks.h"

namespace echolux {

BlockStream::BlockStream(SpectraReader& reader, BlockPool& pool, std::int64_t volume, std::int64_t begin,
                         std::int64_t end, std::int64_t max_b_scans, const std::vector<MissingBScans>& missing)
    : reader_(reader), pool_(pool), volume_(volume), position_(begin), end_(end), max_b_scans_(max_b_scans),
      missing_(missing) {
    read_ahead();
}

std::optional<Block> BlockStream::next() {
    std::optional<Block> block = coming_.get();
    read_ahead();
    return block;
}

void BlockStream::read_ahead() {
    const std::int64_t first = position_;
    const BScanRun run = run_from(missing_, volume_, first, end_);
    const std::int64_t count = std::min(max_b_scans_, run.end - first);
    const std::uint64_t sequence = sequence_++;
    position_ += std::max<std::int64_t>(count, 0);
    coming_ = std::async(std::launch::async, [=, this]() -> std::optional<Block> {
        if (count <= 0) return std::nullopt;
        Block block;
        block.volume = volume_;
        block.first_b_scan = first;
        block.b_scans = count;
        block.sequence = sequence;
        if (run.is_missing) return block;
        const BlockMemory memory = pool_.take();
        block.data = memory.data;
        block.bytes = count * reader_.bytes_per_b_scan();
        block.memory = memory.kind;
        reader_.read(volume_, first, count, {memory.data, index(block.bytes)});
        block.keeper = memory.keeper;
        return block;
    });
}

namespace {

constexpr std::int64_t block_bytes = std::int64_t{16} << 20;  // enough lines for all cores, small compared with memory
constexpr std::int64_t blocks_of_a_device = 3;                // one copied to the GPU, one computed, one copied back
constexpr std::int64_t noise_b_scans = 8;
constexpr std::int64_t noise_bytes = std::int64_t{64} << 20;

// Returns the number of B-scans per block: about 16 MiB, at least one.
std::int64_t block_b_scans(const SpectraReader& reader, const ScanGeometry& geometry) {
    return std::clamp<std::int64_t>(block_bytes / std::max<std::int64_t>(1, reader.bytes_per_b_scan()), 1,
                                    geometry.b_scans);
}

// The first volume that has spectra, and its B-scans that are not missing.
struct AvailableBScans {
    std::int64_t volume = 0;
    std::vector<std::int64_t> positions;
};

AvailableBScans available_b_scans(const Scan& scan) {
    for (std::int64_t volume = 0; volume < scan.geometry.volumes; ++volume) {
        AvailableBScans there{volume, {}};
        for (std::int64_t b = 0; b < scan.geometry.b_scans; ++b) {
            if (!is_missing(scan.missing, volume, b)) there.positions.push_back(b);
        }
        if (!there.positions.empty()) return there;
    }
    throw Error(ErrorCode::bad_file, "has no B-scan with data", scan.path.string(), "record it again");
}

// Overwrites lines with invalid samples by a valid neighbour, so that they affect no statistics.
void replace_invalid_lines(const Scan& scan, const Block& block, std::vector<std::byte>& bytes) {
    std::vector<std::uint8_t> flags;
    if (find_invalid_lines(scan.format, scan.geometry, block, flags) == 0) return;
    const auto line_bytes = static_cast<std::ptrdiff_t>(echolux::line_bytes(scan.format, scan.geometry));
    const std::ptrdiff_t count = std::ssize(flags);
    std::ptrdiff_t valid = std::ranges::find(flags, std::uint8_t{0}) - flags.begin();
    for (std::ptrdiff_t line = 0; line < count; ++line) {
        if (flags[index(line)] == 0) {
            valid = line;
        } else if (valid < count) {
            std::copy_n(bytes.begin() + valid * line_bytes, line_bytes, bytes.begin() + line * line_bytes);
        }
    }
}

// Returns evenly spaced B-scans of that volume as one block.
Block sampled_b_scans(const Scan& scan, SpectraReader& reader, std::int64_t max) {
    const AvailableBScans there = available_b_scans(scan);
    const std::int64_t all = std::ssize(there.positions), count = std::min(max, all);
    const std::int64_t bytes = reader.bytes_per_b_scan();
    auto memory = std::make_shared<std::vector<std::byte>>(index(count * bytes));
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t position = there.positions[index((2 * i + 1) * all / (2 * count))];
        reader.read(there.volume, position, 1, std::span(*memory).subspan(index(i * bytes), index(bytes)));
    }
    Block block;
    block.data = memory->data();
    block.bytes = std::ssize(*memory);
    block.b_scans = count;
    block.keeper = memory;
    replace_invalid_lines(scan, block, *memory);
    return block;
}

// Returns the number of blocks in flight: three per GPU.
std::int64_t blocks_in_flight(const BackendChoice& backend) {
    const bool spread = backend.gpus != 1 && !surveyed_gpus().usable.empty();
    return blocks_of_a_device * (spread ? std::ssize(chosen_gpus(backend, surveyed_gpus())) : 1);
}

// Returns the memory needed in addition to the volume: `blocks` at a time, the noise floor, and B-scans between steps.
std::int64_t working_bytes(const Scan& scan, const SpectraReader& reader, std::int64_t b_scans, std::int64_t blocks) {
    constexpr std::int64_t bytes_a_bin = 16;  // complex bins, and values in f32
    const ScanGeometry& geometry = scan.geometry;
    const std::int64_t lines = b_scans * geometry.lines_per_b_scan() * geometry.b_repeats;
    const std::int64_t bins = lines * geometry.samples * scan.recipe.zero_padding / 2;
    return (blocks + 3) * b_scans * reader.bytes_per_b_scan() + bins * bytes_a_bin;
}

// Submitted blocks. The destructor waits for all of them, because they write to our memory.
class InFlight {
  public:
    InFlight(Reconstructor& reconstructor, std::int64_t max, std::function<void(std::int64_t b_scans)> done)
        : reconstructor_(reconstructor), max_(max), done_(std::move(done)) {}
    ~InFlight() {
        while (!blocks_.empty()) {
            try {
                reconstructor_.wait(taken().completion);
            } catch (...) {  // another error is already propagating
            }
        }
    }
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

    void submit(const Block& block, const VoxelTargets& targets) {
        blocks_.push_back({reconstructor_.submit(block, targets), block.b_scans});
        while (std::ssize(blocks_) > max_) wait_for_oldest();
    }

    void wait_for_all() {
        while (!blocks_.empty()) wait_for_oldest();
    }

  private:
    struct Submitted {
        Completion completion;
        std::int64_t b_scans;
    };

    Submitted taken() {
        const Submitted oldest = blocks_.front();
        blocks_.pop_front();
        return oldest;
    }

    void wait_for_oldest() {
        const Submitted oldest = taken();
        reconstructor_.wait(oldest.completion);
        done_(oldest.b_scans);
    }

    Reconstructor& reconstructor_;
    std::int64_t max_;
    std::function<void(std::int64_t)> done_;
    std::deque<Submitted> blocks_;
};

// Thrown by the GPU's path when a volume has A-scans without a value, which only the CPU can leave out.
struct NeedsCpu {};

}  // namespace

double noise_floor_of(const Scan& scan) {
    SpectraReader reader(scan);
    const std::int64_t max =
        std::clamp<std::int64_t>(noise_bytes / std::max<std::int64_t>(1, reader.bytes_per_b_scan()), 1, noise_b_scans);
    const Block block = sampled_b_scans(scan, reader, max);
    return noise_floor_for_recipe(scan.spec(block.b_scans), block);
}

Reconstruction::Reconstruction(Scan scan, const BackendChoice& backend) : recovery_(backend) {
    require_backend(backend);
    blocks_in_flight_ = blocks_in_flight(backend);
    take(std::move(scan));
}

Reconstruction::Spectra Reconstruction::spectra_of(const Scan& scan) {
    std::error_code gone;  // the reader reports this better
    Spectra found;
    for (const std::filesystem::path& path : raw_files(scan)) {
        const std::uintmax_t bytes = std::filesystem::file_size(path, gone);
        found.push_back({path, bytes, std::filesystem::last_write_time(path, gone)});
    }
    return found;
}

bool Reconstruction::is_taken(const Scan& scan, const Spectra& spectra) const {
    ReconstructionSpec known = scan_.spec(1);
    known.recipe.noise_floor_db = wanted_noise_floor_db_;
    return spectra_ == spectra && scan_.path == scan.path && scan_.remarks == scan.remarks &&
           scan_.geometry.volumes == scan.geometry.volumes && has_same_settings(scan_.file, scan.file) &&
           has_same_settings(scan_.calibration_files, scan.calibration_files) &&
           has_same_settings(scan_.recording, scan.recording) && is_same_plan(known, scan.spec(1));
}

void Reconstruction::take(Scan scan) {
    const Spectra spectra = spectra_of(scan);
    if (reconstructor_ && is_taken(scan, spectra)) return;
    begin(std::move(scan));
    spectra_.reset();
    if (!reconstructor_ || !is_same_plan(*planned_, scan_.spec(block_b_scans_))) plan();
    warn();
    spectra_ = spectra;
}

// Reads and measures what a plan needs. If it throws, the previous scan stays.
void Reconstruction::begin(Scan scan) {
    auto reader = std::make_unique<SpectraReader>(scan);
    const std::int64_t b_scans = block_b_scans(*reader, scan.geometry);
    planned_grid(scan);  // rejects an impossible recipe before reading
    require_memory(working_bytes(scan, *reader, b_scans, blocks_in_flight_), scan.path.string(),
                   "set scan.b_scans smaller, or use a machine with more memory");
    const double wanted_db = scan.recipe.noise_floor_db;
    if (needs_noise_floor(scan.recipe, scan.flow)) scan.recipe.noise_floor_db = noise_floor_of(scan);
    scan_ = std::move(scan);
    reader_ = std::move(reader);
    block_b_scans_ = b_scans;
    wanted_noise_floor_db_ = wanted_db;
}

void Reconstruction::plan() {
    reconstructor_.reset();  // frees its memory first
    planned_ = scan_.spec(block_b_scans_);
    auto [reconstructor, reason] = choose_reconstructor(*planned_, recovery_.backend());
    const bool on_gpu = reconstructor->backend() == Backend::cuda;
    pool_.emplace(block_b_scans_ * reader_->bytes_per_b_scan(), on_gpu ? MemoryKind::pinned : MemoryKind::host);
    reconstructor_ = std::move(reconstructor);
    ++stats_.plans;
    stats_.backend = reconstructor_->backend_description();
    const bool has_no_gpu = surveyed_gpus().usable.empty();  // not worth a warning then
    if (has_no_gpu && !reason.empty()) stats_.backend += ", " + reason;
    reason_ = has_no_gpu ? std::string() : std::move(reason);
}

void Reconstruction::warn() {
    warnings_ = scan_.remarks;
    if (!reason_.empty()) warnings_.push_back(reason_);
    warn_of_layout();
    warn_of_light_at_zero_delay();
    warn_of_common_fringes();
    warn_of_reversed_wavelengths();
    warn_of_weak_dispersion();
    warn_of_wrong_dispersion();
    warn_of_emptiness();
}

void Reconstruction::warn_of_layout() {
    std::ranges::move(layout_doubts(scan_, sampled_b_scans(scan_, *reader_, 1)), std::back_inserter(warnings_));
}

void Reconstruction::warn_of_light_at_zero_delay() {
    constexpr double max = 0.5;
    const double share = share_at_zero_delay(scan_.spec(1), sampled_b_scans(scan_, *reader_, 1));
    if (share <= max) return;
    warnings_.push_back(
        fmt::format("{:.0f} % of the light is at zero delay, in the first 3 depth bins (check the unit of the k map "
                    "or wavelengths, and the layout of the raw file)",
                    share * 100));
}

void Reconstruction::warn_of_common_fringes() {
    constexpr double max = 0.5;
    if (scan_.recipe.background != Background::automatic) return;  // an explicit choice needs no warning
    if (chosen_background(scan_.recipe, scan_.calibration) != Background::frame_mean) return;
    const CommonFringe fringe = strongest_common_fringe(scan_.spec(1), sampled_b_scans(scan_, *reader_, 1));
    if (fringe.share <= max) return;
    warnings_.push_back(
        fmt::format("recipe.background: subtracting the B-scan mean removes {:.0f} % of the signal at depth bin {} "
                    "(for flat objects give calibration.background; recipe.background = frame_mean silences this)",
                    fringe.share * 100, fringe.bin));
}

void Reconstruction::warn_of_reversed_wavelengths() {
    if (!is_sharper_with_reversed_wavelengths(scan_.spec(1), sampled_b_scans(scan_, *reader_, 1))) return;
    warnings_.push_back(
        "calibration.wavelengths: the spectra are sharper with the wavelengths in the opposite order (does the file "
        "begin "
        "with the last sample? reverse its lines)");
}

void Reconstruction::warn_of_weak_dispersion() {
    if (scan_.recipe.method != Method::defr) return;
    const double gamma = defr_tables(scan_.spec(1)).gamma;
    if (gamma <= weak_diversity) return;
    warnings_.push_back(
        fmt::format("recipe.method: dispersion is low for full range (gamma = {:.2f}; {} or more is critical): false "
                    "images fade slowly (set defr.iterations to 20 or more, or add glass to one arm)",
                    gamma, weak_diversity));
}

void Reconstruction::warn_of_wrong_dispersion() {
    constexpr double max_away = 0.15;
    if (scan_.recipe.method != Method::defr) return;
    const double factor = sharpest_dispersion_factor(scan_.spec(1), sampled_b_scans(scan_, *reader_, 1));
    if (std::abs(factor - 1) <= max_away) return;
    warnings_.push_back(fmt::format(
        "recipe.method: the dispersion does not fit the spectra, which {}: false images remain (search for it with "
        "`calibrate dispersion`)",
        factor == 0 ? std::string("are sharpest without any")
                    : fmt::format("are sharpest with about {:.1f} times as much", factor)));
}

void Reconstruction::warn_of_emptiness() {
    constexpr double max = 0.999;
    if (scan_.recipe.method != Method::compressive) return;
    const double share = empty_share(scan_.spec(1), sampled_b_scans(scan_, *reader_, 1));
    if (share <= max) return;
    const bool is_absolute = scan_.compressive.tau > 0;
    warnings_.push_back(
        fmt::format("compressive.{}: {:.2f} % of the depth bins are left empty (try a tenth of this value)",
                    is_absolute ? "tau" : "tau_relative", share * 100));
}

VolumeGrid Reconstruction::grid(const ScanPart& part) const {
    const std::int64_t end = part.end == 0 ? scan_.geometry.b_scans : part.end;
    if (part.volume < 0 || part.volume >= scan_.geometry.volumes) {
        throw Error(ErrorCode::bad_setting, fmt::format("there is no volume {}", part.volume), "part.volume",
                    fmt::format("the scan has volumes 0 to {}", scan_.geometry.volumes - 1));
    }
    if (part.begin < 0 || part.begin >= end || end > scan_.geometry.b_scans) {
        throw Error(ErrorCode::bad_setting, fmt::format("B-scans {}:{} are not in the scan", part.begin, end),
                    "part.blocks", fmt::format("it has B-scans 0:{}", scan_.geometry.b_scans));
    }
    VolumeGrid grid = planned_grid(scan_);
    grid.b_scans = slices_per_b_scan(grid, scan_.geometry) * (end - part.begin);
    return grid;
}

Volume Reconstruction::run(const ScanPart& part, Progress& progress) {
    FlowedVolume volume{{grid(part), {}, {}}, {}};
    make(volume, part, progress);
    return std::move(volume.structure);
}

FlowedVolume Reconstruction::run_with_flow(const ScanPart& part, Progress& progress) {
    FlowedVolume volume{{grid(part), {}, {}}, {}};
    if (std::optional<VolumeGrid> flow = planned_flow_grid(scan_.spec(1))) {
        flow->b_scans = volume.structure.grid.b_scans;
        volume.flow = Volume{*flow, {}, {}};
        const ScanGeometry& geometry = scan_.geometry;
        const std::int64_t positions = (part.end == 0 ? geometry.b_scans : part.end) - part.begin;
        if (scan_.flow.align || scan_.flow.method == FlowMethod::complex_decorrelation)
            volume.repeats.resize(index(positions * geometry.b_repeats));
    }
    make(volume, part, progress);
    return volume;
}

void Reconstruction::make(FlowedVolume& volume, const ScanPart& part, Progress& progress) {
    const auto start = std::chrono::steady_clock::now();
    if (!reconstructor_) plan();  // the last attempt failed
    allocate(volume.structure);
    if (volume.flow) allocate(*volume.flow);
    for (bool filled = false; !filled;) {
        try {
            prime(part, progress);
            fill(volume, part, progress);
            filled = true;
        } catch (const NeedsCpu&) {
            fill_on_cpu(volume, part, progress);
            filled = true;
        } catch (const Error& problem) {
            if (!recovery_.recovers(problem, reconstructor_->backend())) throw;
            reconstructor_.reset();
            const bool on_cpu = recovery_.backend().backend == Backend::cpu;
            const std::string note =
                problem.line() + (on_cpu ? ": reconstructing on the CPU instead" : ": restarting the GPU");
            warnings_.push_back(note);
            plan();
            if (on_cpu)
                reason_ = note;  // applies to later scans too
            else if (!reason_.empty())
                warnings_.push_back(reason_);
        }
    }
    volume.structure.provenance = provenance(part);
    if (invalid_a_scans_ > 0) note_invalid(volume, part);
    if (volume.flow) volume.flow->provenance = volume.structure.provenance;
    stats_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Reconstruction::fill_on_cpu(FlowedVolume& volume, const ScanPart& part, Progress& progress) {
    std::unique_ptr<Reconstructor> on_gpu = std::exchange(reconstructor_, plan_on_cpu(*planned_));
    const auto restore = [&] { reconstructor_ = std::move(on_gpu); };
    try {
        prime(part, progress);
        fill(volume, part, progress);
    } catch (...) {
        restore();
        throw;
    }
    restore();
}

void Reconstruction::note_invalid(FlowedVolume& volume, const ScanPart& part) {
    volume.structure.provenance["invalid_a_scans"] = std::to_string(invalid_a_scans_);
    warnings_.push_back(
        fmt::format("volume {}: the spectra of {} hold values that are not finite or exceed 1e12 counts; these A-scans "
                    "have no value (check the program that wrote the raw file, and scan.byte_order)",
                    part.volume, plural(invalid_a_scans_, "A-scans")));
}

void Reconstruction::allocate(Volume& volume) const {
    require_memory(volume.grid.bytes(), scan_.path.string(), "reconstruct it in parts with `part.blocks` A:B");
    volume.voxels.resize(index(volume.grid.bytes()));
}

void Reconstruction::fill(FlowedVolume& volume, const ScanPart& part, Progress& progress) {
    const std::int64_t first_slice = part.begin * slices_per_b_scan(reconstructor_->grid(), scan_.geometry);
    const auto place_in = [&](Volume& target) { return packed_target(target.voxels.data(), target.grid, first_slice); };
    VoxelTargets targets(place_in(volume.structure));
    if (volume.flow) targets.flow = place_in(*volume.flow);
    if (!volume.repeats.empty()) targets.repeats = RepeatReports{volume.repeats.data(), part.begin};
    const std::int64_t end = part.end == 0 ? scan_.geometry.b_scans : part.end;
    const std::int64_t lines_per_b_scan = scan_.geometry.lines_per_b_scan() * scan_.geometry.b_repeats;
    progress.begin(fmt::format("reconstruct volume {}", part.volume), (end - part.begin) * lines_per_b_scan, "A-scans");
    BlockStream blocks(*reader_, *pool_, part.volume, part.begin, end, block_b_scans_, scan_.missing);
    InFlight in_flight(*reconstructor_, blocks_in_flight_,
                       [&](std::int64_t b_scans) { progress.advance(b_scans * lines_per_b_scan); });
    invalid_a_scans_ = 0;
    std::vector<std::uint8_t> flags;
    while (const std::optional<Block> block = blocks.next()) {
        invalid_a_scans_ += find_invalid_lines(scan_.format, scan_.geometry, *block, flags);
        if (invalid_a_scans_ > 0 && reconstructor_->backend() == Backend::cuda) throw NeedsCpu();
        in_flight.submit(*block, targets);
    }
    in_flight.wait_for_all();
    leave_out_missing(volume.repeats, part, end);
    stats_.a_scans += (end - part.begin) * lines_per_b_scan;
    progress.end();
}

// Marks the repeats of missing B-scans, which cannot be compared.
void Reconstruction::leave_out_missing(std::vector<RepeatReport>& repeats, const ScanPart& part,
                                       std::int64_t end) const {
    if (repeats.empty()) return;
    const std::int64_t each = scan_.geometry.b_repeats;
    for (std::int64_t b = part.begin; b < end; ++b) {
        if (!is_missing(scan_.missing, part.volume, b)) continue;
        for (std::int64_t repeat = 0; repeat < each; ++repeat)
            repeats[index((b - part.begin) * each + repeat)].reason = Reason::no_signal;
    }
}

// A part has the running background of the whole volume, so it must see all earlier B-scans.
void Reconstruction::prime(const ScanPart& part, Progress& progress) {
    if (scan_.recipe.background != Background::running || part.begin == 0) return;
    progress.begin("update the background", part.begin, "B-scans");
    BlockStream blocks(*reader_, *pool_, part.volume, 0, part.begin, block_b_scans_, scan_.missing);
    while (const std::optional<Block> block = blocks.next()) {
        reconstructor_->prime(*block);
        progress.advance(block->b_scans);
    }
    progress.end();
}

std::map<std::string, std::string> Reconstruction::provenance(const ScanPart& part) const {
    std::map<std::string, std::string> lines = provenance_of(scan_, reconstructor_->backend_description());
    lines["volume"] = std::to_string(part.volume);
    lines["first_b_scan"] = std::to_string(part.begin);
    if (reconstructor_->grid().quantity == "complex") {  // converts phases to displacements
        const double um = effective_wavelength_um(scan_.spec(1));
        if (um > 0) lines["centre_wavelength_nm"] = fmt::format("{:.4f}", 1000 * um);
    }
    const std::int64_t end = part.end == 0 ? scan_.geometry.b_scans : part.end;
    const std::int64_t slices = slices_per_b_scan(reconstructor_->grid(), scan_.geometry);
    const std::string missing = missing_slices(scan_.missing, {part.volume, part.begin, end}, slices);
    if (!missing.empty()) lines["missing_b_scans"] = missing;
    return lines;
}

static std::string cell_of(float value, bool is_known) {
    return is_known ? fmt::format("{:.4f}", value) : std::string();
}

static std::string row_of(const RepeatReport& one, const VolumeGrid& grid) {
    const auto dz = static_cast<float>(grid.spacing_um[0]), dx = static_cast<float>(grid.spacing_um[1]);
    const bool known = one.is_used();
    return fmt::format("{},{},{},{},{:.4f},{},{}\n", cell_of(one.depth_rows, known), cell_of(one.a_scans, known),
                       cell_of(one.depth_rows * dz, known && dz > 0), cell_of(one.a_scans * dx, known && dx > 0),
                       one.match, cell_of(one.bulk_decorrelation, !std::isnan(one.bulk_decorrelation)),
                       name_of(one.reason));
}

std::string repeats_table_heading() {
    return std::string(repeats_heading) +
           ": sample (depth row, A-scan) of a repeat lies at (row + z, A-scan + x) of the repeat with match 1\n"
           "volume,b_scan,repeat,z,x,z_um,x_um,match,bulk_decorrelation,reason\n";
}

std::string repeats_table_rows(const RepeatsOfVolume& repeats, const VolumeGrid& grid) {
    std::string text;
    for (std::size_t i = 0; i < repeats.reports.size(); ++i) {
        const auto place = static_cast<std::int64_t>(i);
        text += fmt::format("{},{},{},", repeats.volume, repeats.first_b_scan + place / repeats.b_repeats,
                            place % repeats.b_repeats);
        text += row_of(repeats.reports[i], grid);
    }
    return text;
}

bool is_own_repeats_table(const std::filesystem::path& path) {
    return begins_with(path, repeats_heading);
}

std::string left_out_of(std::span<const RepeatReport> reports, std::int64_t b_repeats, bool aligns) {
    std::map<std::string, std::int64_t> reasons;
    std::int64_t left_out = 0, hidden = 0;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const bool is_first = static_cast<std::int64_t>(i) % b_repeats == 0;
        hidden += is_first && reports[i].bulk_decorrelation > BulkDecorrelation::max_shown;
        if (reports[i].is_used()) continue;
        ++left_out;
        ++reasons[name_of(reports[i].reason)];
    }
    std::string text;
    if (left_out > 0) {
        text = fmt::format("flow.align: {} of {} match no other and are discarded (", left_out,
                           plural(std::ssize(reports), "repeats"));
        for (const auto& [reason, count] : reasons) text += fmt::format("{} {}, ", count, reason);
        text.resize(text.size() - 2);
        text += ")";
    }
    if (hidden > 0) {
        text += text.empty() ? (aligns ? "flow.align: " : "flow.method: ") : "; ";
        text += fmt::format("{} of {} moved {} and show no flow", hidden,
                            plural(std::ssize(reports) / b_repeats, "B-scans"),
                            aligns ? "out of their plane" : "between their repeats");
        if (!aligns) text += "; flow.align = true recovers those that moved within it";
    }
    return text;
}

}  // namespace echolux
