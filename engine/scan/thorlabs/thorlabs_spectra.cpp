// Each B-scan has its own file of u16 or i16 lines, of which the first contain only the reference (apodisation). Chirp
// is the k position of each sample in units of the uniform grid. Offset errors and the apodisation spectrum are in
// electrons; BinaryToElectronCountScaling is the number of electrons per count.
#include "engine/scan/foreign_scans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/choices.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/foreign/thorlabs/thorlabs_file.h"
#include "engine/io/raw_guess.h"
#include "engine/scan/scan.h"

namespace echolux {
namespace {

std::string spectra_name(std::int64_t number) {
    return fmt::format("data/Spectral{}.data", number);
}

struct Frames {                       // acquired B-scans
    std::int64_t first = 0, end = 0;  // range of numbers in their names
    ThorlabsFile shape;
};

class ThorlabsSpectra {
  public:
    ThorlabsSpectra(const std::filesystem::path& path, Scan& scan)
        : where_(path.string()), archive_(path), header_(read_thorlabs_header(archive_, where_)),
          frames_(find_frames()), scan_(scan) {
        describe_format();
        describe_geometry();
        unpack();
        describe_calibration();
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(ErrorCode::bad_file, what, where_, "copy or save the file again");
    }

    static bool are_alike(const ThorlabsFile& a, const ThorlabsFile& b) {
        return a.depth == b.depth && a.lines == b.lines && a.scan_begin == b.scan_begin && a.scan_end == b.scan_end &&
               a.bytes_per_value == b.bytes_per_value;
    }

    // In some versions, file 0 contains only the reference.
    Frames find_frames() const {
        const ThorlabsFile* shape = header_.file(spectra_name(0));
        if (shape == nullptr) {
            throw Error(ErrorCode::bad_file, "contains no spectra", where_, "its images can be shown and converted");
        }
        Frames frames{0, 1, *shape};
        const ThorlabsFile* second = header_.file(spectra_name(1));
        if (second != nullptr && !are_alike(*shape, *second)) frames = {1, 2, *second};
        while (const ThorlabsFile* next = header_.file(spectra_name(frames.end))) {
            if (!are_alike(*next, frames.shape)) fail(fmt::format("has B-scans of different sizes ({})", next->name));
            ++frames.end;
        }
        ThorlabsFile& file = frames.shape;
        if (file.scan_end == 0) file.scan_end = file.lines;
        const bool in_order = 0 <= file.reference_begin && file.reference_begin <= file.reference_end &&
                              file.reference_end <= file.lines && 0 <= file.scan_begin &&
                              file.scan_begin < file.scan_end && file.scan_end <= file.lines;
        constexpr std::int64_t max = 1 << 24;
        if (!in_order || file.depth < 1 || file.depth > max || file.lines > max) {
            fail("its Header.xml describes impossible spectra");
        }
        return frames;
    }

    std::int64_t frame_bytes() const {
        return frames_.shape.depth * frames_.shape.lines * frames_.shape.bytes_per_value;
    }

    void describe_format() {
        switch (frames_.shape.bytes_per_value) {
            case 1: scan_.format.sample_format = SampleFormat::u8; break;
            case 2: scan_.format.sample_format = header_.raw_is_signed ? SampleFormat::i16 : SampleFormat::u16; break;
            case 4: scan_.format.sample_format = SampleFormat::u32; break;
            default: fail(fmt::format("has samples of {}", plural(frames_.shape.bytes_per_value, "bytes")));
        }
        if (header_.raw_is_signed && frames_.shape.bytes_per_value != 2)
            fail("has signed samples that are not 16 bits");
    }

    // If there are more lines and B-scans than in the picture, they were averaged.
    void describe_geometry() {
        ScanGeometry& geometry = scan_.geometry;
        const ThorlabsFile& file = frames_.shape;
        const std::int64_t lines = file.scan_end - file.scan_begin, frames = frames_.end - frames_.first;
        const auto repeats = [](std::int64_t acquired, std::int64_t shown) {
            return shown > 0 && acquired % shown == 0 ? acquired / shown : 1;
        };
        geometry.samples = file.depth;
        geometry.a_repeats = repeats(lines, header_.a_scans);
        geometry.b_repeats = repeats(frames, header_.b_scans);
        geometry.a_scans = lines / geometry.a_repeats;
        geometry.b_scans = frames / geometry.b_repeats;
        geometry.flyback_lines = file.lines - file.scan_end;
        geometry.refractive_index = std::clamp(header_.refractive_index, 1.0, 3.0);
        geometry.spacing_a_um = 1000 * file.pitch_mm(header_.range_a_mm, geometry.a_scans);
        if (geometry.b_scans > 1) geometry.spacing_b_um = 1000 * file.pitch_mm(header_.range_b_mm, geometry.b_scans);
        scan_.file.frame_offset_bytes = file.scan_begin * file.depth * file.bytes_per_value;
        if (geometry.a_repeats > 1 || geometry.b_repeats > 1) scan_.recipe.average = Average::magnitude;
    }

    void unpack() {
        const std::int64_t bytes = frame_bytes();
        for (std::int64_t number = frames_.first; number < frames_.end; ++number) {
            if (archive_.size_of(spectra_name(number)) == bytes) continue;
            fail(fmt::format("{} has {}, {} are described", spectra_name(number),
                             plural(archive_.size_of(spectra_name(number)), "bytes"), bytes));
        }
        const auto unpacked = std::make_shared<ScratchFile>(bytes * (frames_.end - frames_.first), where_);
        for (std::int64_t number = frames_.first; number < frames_.end; ++number) {
            unpacked->append(archive_.read(spectra_name(number), bytes));
        }
        unpacked->close();
        scan_.file.file = unpacked->path().string();
        scan_.unpacked = unpacked;
    }

    // Reads f32 values, one per sample. Returns an empty list if the file is missing.
    std::vector<double> reals(const std::string& name) const {
        if (!archive_.holds(name)) return {};
        const std::int64_t samples = frames_.shape.depth;
        if (archive_.size_of(name) != samples * 4) fail(fmt::format("{} does not have one value per sample", name));
        const std::vector<std::byte> bytes = archive_.read(name, samples * 4);
        std::vector<float> values(index(samples));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
            fail(name + " has values that are not numbers");
        }
        return {values.begin(), values.end()};
    }

    // Converts values in electrons to counts.
    std::vector<double> counts(const std::string& name) const {
        std::vector<double> values = reals(name);
        for (double& value : values) value /= header_.electrons_per_count;
        return values;
    }

    void describe_calibration() {
        Calibration& calibration = scan_.calibration;
        const std::int64_t samples = frames_.shape.depth;
        calibration.k_positions = inverse(reals("data/Chirp.data"));
        calibration.dark = counts("data/OffsetErrors.data");
        calibration.background = reference_lines();
        if (calibration.background.empty()) calibration.background = counts("data/ApodizationSpectrum.data");
        calibration.centre_wavelength_nm = header_.centre_wavelength_nm;
        const double depth_bins = static_cast<double>(samples) / 2;
        const ThorlabsFile* picture = header_.file("data/Intensity.data");
        const bool has_all_bins = picture == nullptr || 2 * picture->depth == samples;
        if (has_all_bins) {
            calibration.depth_pitch_um = 1000 * header_.range_depth_mm * scan_.geometry.refractive_index / depth_bins;
        }
        check_k_positions(calibration.k_positions, samples, where_ + ", data/Chirp.data");
    }

    // Returns the mean of the reference lines of the first B-scan.
    std::vector<double> reference_lines() const {
        const ThorlabsFile& file = frames_.shape;
        const std::int64_t count = file.reference_end - file.reference_begin;
        if (count == 0) return {};
        const std::vector<std::byte> frame = archive_.read(spectra_name(frames_.first), frame_bytes());
        const std::vector<float> lines = raw_samples(scan_.format, frame, file.reference_end * file.depth);
        std::vector<double> mean(index(file.depth));
        for (std::int64_t i = file.reference_begin * file.depth; i < file.reference_end * file.depth; ++i) {
            mean[index(i % file.depth)] += lines[index(i)];
        }
        for (double& value : mean) value /= static_cast<double>(count);
        return mean;
    }

    // Inverts the chirp by linear interpolation: from the grid position of each sample to the sample position of each
    // grid point.
    std::vector<double> inverse(const std::vector<double>& chirp) const {
        if (chirp.size() < 2) return {};
        if (std::ranges::adjacent_find(chirp, std::greater_equal{}) != chirp.end()) {
            fail("data/Chirp.data does not rise from sample to sample");
        }
        const double last = static_cast<double>(chirp.size() - 1);
        std::vector<double> positions;
        std::size_t left = 0;
        for (std::size_t i = 0; i < chirp.size(); ++i) {
            const double k = chirp.front() + (chirp.back() - chirp.front()) * static_cast<double>(i) / last;
            while (left + 2 < chirp.size() && chirp[left + 1] < k) ++left;
            positions.push_back(static_cast<double>(left) + (k - chirp[left]) / (chirp[left + 1] - chirp[left]));
        }
        for (double& position : positions) position = std::clamp(position, 0.0, last);
        return positions;
    }

    std::string where_;
    ZipArchive archive_;
    ThorlabsHeader header_;
    Frames frames_;
    Scan& scan_;
};

}  // namespace

void describe_thorlabs(const std::filesystem::path& path, Scan& scan) {
    ThorlabsSpectra(path, scan);
}

}  // namespace echolux
