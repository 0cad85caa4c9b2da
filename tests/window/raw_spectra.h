// Spectra of a small simulated scan without a description, as another program would write them: 256 samples x 32
// A-scans x 24 B-scans.
#pragma once

#include <filesystem>
#include <vector>

#include "compute/indexing.h"
#include "engine/scan/scan.h"
#include "run_operation.h"
#include "temporary_folder.h"

namespace echolux::test {

inline std::filesystem::path write_raw_spectra(const TemporaryFolder& folder, const std::string& name) {
    const TemporaryFolder described;
    run_operation("simulate", {"scene=layers", "simulation.samples=256", "simulation.a_scans=32",
                               "simulation.b_scans=24", "output=" + (described / "scan.toml").string()});
    const Scan scan = open_scan(described / "scan.toml");
    SpectraReader reader(scan);
    std::vector<std::byte> bytes(index(scan.geometry.b_scans * reader.bytes_per_b_scan()));
    reader.read(0, 0, scan.geometry.b_scans, bytes);
    return folder.write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace echolux::test
