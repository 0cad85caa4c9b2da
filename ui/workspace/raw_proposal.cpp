#include "ui/workspace/raw_proposal.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "app/open/description.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/offline/reconstruction.h"

namespace echolux {
namespace {

constexpr std::int64_t preview_edge = 384;  // size of each half of the preview in pixels

// Values in rows, [rows][columns].
struct Rows {
    std::int64_t rows = 0, columns = 0;
    std::vector<float> values{};
};

// Scales values to gray from the 1 to the 99 percentile and resamples them to a square.
std::vector<std::uint8_t> gray_square(const Rows& rows) {
    std::vector<float> sorted = rows.values;
    std::ranges::sort(sorted);
    const float low = sorted[sorted.size() / 100];
    const float range = std::max(sorted[sorted.size() - 1 - sorted.size() / 100] - low, 1e-20f);
    std::vector<std::uint8_t> gray;
    gray.reserve(index(preview_edge * preview_edge));
    for (std::int64_t y = 0; y < preview_edge; ++y) {
        for (std::int64_t x = 0; x < preview_edge; ++x) {
            const std::int64_t row = y * rows.rows / preview_edge;
            const std::int64_t column = x * rows.columns / preview_edge;
            const float value = rows.values[index(row * rows.columns + column)];
            gray.push_back(static_cast<std::uint8_t>(255 * std::clamp((value - low) / range, 0.0f, 1.0f)));
        }
    }
    return gray;
}

// Reads a B-scan as stored in the file: one line per A-scan.
Rows spectra_of(const Scan& scan, std::int64_t b_scan) {
    SpectraReader reader(scan);
    std::vector<std::byte> bytes(index(reader.bytes_per_b_scan()));
    reader.read(0, b_scan, 1, bytes);
    const ScanGeometry& geometry = scan.geometry;
    Rows rows{geometry.lines_per_b_scan(), geometry.samples};
    const std::int64_t line = line_bytes(scan.format, geometry);
    for (std::int64_t y = 0; y < rows.rows; ++y) {
        const std::vector<float> samples =
            raw_samples(scan.format, std::span(bytes).subspan(index(y * line)), geometry.samples);
        rows.values.insert(rows.values.end(), samples.begin(), samples.end());
    }
    silence_the_impossible(rows.values);
    return rows;
}

// Reconstructs a B-scan with depth downwards.
Rows depths_of(const Scan& scan, std::int64_t b_scan, Progress& progress) {
    Reconstruction reconstruction(scan, {.backend = Backend::cpu});
    const Volume volume = reconstruction.run({0, b_scan, b_scan + 1}, progress);
    Rows rows{volume.grid.depth, volume.grid.a_scans};
    rows.values.resize(index(rows.rows * rows.columns));
    std::vector<float> voxels(index(volume.grid.voxels()));
    std::memcpy(voxels.data(), volume.voxels.data(), volume.voxels.size());
    for (std::int64_t a = 0; a < rows.columns; ++a) {
        for (std::int64_t z = 0; z < rows.rows; ++z) {
            rows.values[index(z * rows.columns + a)] = voxels[index(a * rows.rows + z)];
        }
    }
    silence_the_impossible(rows.values);
    return rows;
}

}  // namespace

void RawProposal::take(const RawGuess& guess) {
    scan = scan_of_guess(file, guess);
    is_stale = true;
}

RawPreview preview_of(Scan scan, Progress& progress) {
    try {
        scan.recipe.voxel = VoxelType::f32;
        const SpectraLayout layout = spectra_layout(scan.file, scan.format, scan.geometry, scan.spectra.string());
        check_file_size(layout, scan.geometry, static_cast<std::int64_t>(std::filesystem::file_size(scan.spectra)),
                        scan.spectra.string());
        const std::int64_t middle = scan.geometry.b_scans / 2;
        std::vector<std::uint8_t> pixels = gray_square(spectra_of(scan, middle));
        const std::vector<std::uint8_t> below = gray_square(depths_of(scan, middle, progress));
        pixels.insert(pixels.end(), below.begin(), below.end());
        return {{preview_edge, 2 * preview_edge, 1, std::move(pixels), {}}, {}};
    } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        return {{}, error.line()};
    }
}

void RawProposals::propose(const std::filesystem::path& path, const std::vector<RawGuess>& guesses) {
    proposal_ = std::make_shared<RawProposal>();
    proposal_->file = path;
    proposal_->doubts = doubts_about(guesses, path.filename().string());
    proposal_->guesses = guesses;  // most likely first, in the order of the displayed percentages
    std::ranges::stable_sort(proposal_->guesses, std::greater{}, &RawGuess::likeness);
    bind(proposal_->settings, proposal_->scan);
    proposal_->take(guesses.empty() ? RawGuess{} : guesses.front());
    if (guesses.empty()) {
        state_.notices.note("files",
                            path.string() + ": no layout could be guessed; enter samples, A-scans and B-scans");
    }
}

void RawProposals::update() {
    if (!proposal_ || !proposal_->is_stale) return;
    const std::vector<JobState> in_progress = state_.jobs.states();
    if (std::ranges::count(in_progress, previewing_, &JobState::id) > 0) return;
    proposal_->is_stale = false;
    previewing_ = state_.jobs.start(
        "examining " + proposal_->file.filename().string(),
        [asked = std::weak_ptr(proposal_), scan = proposal_->scan](Progress& progress) {
            return [asked, preview = preview_of(scan, progress)] {
                const std::shared_ptr<RawProposal> still_there = asked.lock();
                if (!still_there) return;
                still_there->preview = preview.picture;
                still_there->problem = preview.problem;
            };
        },
        state_.to("files"));
}

// Never overwrites an existing description.
void RawProposals::accept() {
    if (!proposal_) return;
    state_.jobs.start(
        "describing " + proposal_->file.filename().string(),
        [this, scan = proposal_->scan](Progress&) {
            std::error_code problem;
            if (std::filesystem::exists(scan.path, problem)) {
                throw Error(ErrorCode::output, "already exists", scan.path.string(), "open it, or rename it");
            }
            write_scan_toml(scan);
            return [this, path = scan.path] {
                proposal_.reset();
                work_.open(path);
            };
        },
        state_.to("files"));
}

void RawProposals::drop() {
    state_.jobs.cancel(previewing_);
    proposal_.reset();
}

}  // namespace echolux
