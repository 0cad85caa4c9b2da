// Descriptions of spectra: scan and session TOML, self-describing raw files, recordings, calibration, guesses.
#include "compute/indexing.h"
#include "engine/io/number_file.h"
#include "engine/io/png_file.h"
#include "engine/io/raw_guess.h"
#include "engine/scan/scan.h"
#include "fuzz_target.h"

namespace echolux::fuzz {
namespace {

// Provides the spectra, so that more than the TOML is read.
void read_scan_toml(Bytes bytes) {
    static const std::vector<std::byte> spectra(4096);
    file_with("x.raw", spectra);
    const Scan scan = open_scan(file_with("x.toml", bytes));
    SpectraReader reader(scan);
    std::vector<std::byte> b_scan(index(reader.bytes_per_b_scan()));
    reader.read(0, 0, 1, b_scan);
}

void read_scan(const std::filesystem::path& path) {
    const Scan scan = open_scan(path);
    SpectraReader reader(scan);
    constexpr std::int64_t max_bytes = 1 << 24;
    if (reader.bytes_per_b_scan() > max_bytes) return;
    std::vector<std::byte> b_scan(index(reader.bytes_per_b_scan()));
    reader.read(0, scan.geometry.b_scans - 1, 1, b_scan);
}

void read_sd01raw2(Bytes bytes) {
    read_scan(file_with("y.raw", bytes));
}

void read_thorlabs_spectra(Bytes bytes) {
    read_scan(file_with("x.oct", bytes));
}

void read_octproz(Bytes bytes) {
    static const std::vector<std::byte> spectra(4096);
    file_with("z.raw", spectra);
    read_scan(file_with("z_meta.txt", bytes));
}

// Sections other than those of scans: sessions, presets, lists.
void read_session_toml(Bytes bytes) {
    toml_entries(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "x.toml");
}

void read_numbers(Bytes bytes) {
    const std::filesystem::path path = file_with("x.csv", bytes);
    read_calibration(path, 0, "background");
}

void read_binary_numbers(Bytes bytes) {
    const std::filesystem::path path = file_with("x.f32", bytes);
    read_calibration(path, 0, "background");
}

void guess(Bytes bytes) {
    guess_raw(file_with("unknown.raw", bytes));
}

void read_our_png(Bytes bytes) {
    const std::filesystem::path path = file_with("x.png", bytes);
    picture_texts(path);
    read_png(path);
}

const Registration registrations[] = {
    {"scan_toml", read_scan_toml}, {"session_toml", read_session_toml},
    {"sd01raw2", read_sd01raw2},   {"thorlabs_spectra", read_thorlabs_spectra},
    {"octproz", read_octproz},     {"csv", read_numbers},
    {"f32", read_binary_numbers},  {"raw_guess", guess},
    {"our_png", read_our_png},
};

}  // namespace
}  // namespace echolux::fuzz
