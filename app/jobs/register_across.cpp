#include "app/jobs/register_across.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "app/open/open_volume.h"
#include "app/open/said_of.h"
#include "compute/error.h"

namespace echolux {
namespace {

// Returns true if `across`, with x and y exchanged, covers the same width and length. Unknown spacings are accepted.
bool is_same_field(const VolumeGrid& raster, const VolumeGrid& across) {
    constexpr double tolerance = 0.02;
    const auto size = [](double spacing_um, std::int64_t count) { return spacing_um * static_cast<double>(count); };
    const auto agree = [](double a, double b) { return a <= 0 || b <= 0 || std::abs(a - b) <= tolerance * a; };
    return agree(size(raster.spacing_um[1], raster.a_scans), size(across.spacing_um[2], across.b_scans)) &&
           agree(size(raster.spacing_um[2], raster.b_scans), size(across.spacing_um[1], across.a_scans));
}

// Checks the protocol if it is known.
void require_protocol(const std::map<std::string, std::string>& provenance, const std::string& wanted,
                      const std::string& name, const std::string& remedy) {
    const auto known = provenance.find("scan.protocol");
    if (known == provenance.end() || known->second == '"' + wanted + '"') return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("was scanned with scan.protocol {}, not \"{}\"", known->second, wanted), name, remedy);
}

}  // namespace

VolumesToRegister with_across(VolumesToRegister volumes, const std::filesystem::path& file,
                              RegistrationSettings& settings) {
    const std::string name = file.filename().string();
    if (volumes.count != 1 || volumes.reference) {
        throw Error(ErrorCode::bad_setting, "aligns a single volume, without a reference", name,
                    "align volumes one by one, then register what comes of them");
    }
    require_protocol(volumes.provenance, "raster", volumes.name(0),
                     "the volume to align is a raster along x; a raster_cross needs no other volume");
    PowerVolume across = said_of(name, "registration", [&] {
        const Volume volume = read_volume(file);
        require_protocol(volume.provenance, "raster_y", name, "give the raster along y of the same place");
        return power_of(volume);
    });
    settings.crosses = across.grid.b_scans;
    volumes.read = [across = std::move(across), name, read = volumes.read](std::int64_t number) {
        PowerVolume raster = read(number);
        if (raster.grid.depth != across.grid.depth || raster.grid.a_scans != across.grid.a_scans) {
            throw Error(ErrorCode::bad_setting, "has B-scans of another size than the volume that it is to run across",
                        name, "scan both with as many A-scans and the same depths");
        }
        if (!is_same_field(raster.grid, across.grid)) {
            throw Error(ErrorCode::bad_setting, "covers another field than the volume that it is to run across", name,
                        "scan both as wide and as long");
        }
        raster.grid.b_scans += across.grid.b_scans;
        raster.power.insert(raster.power.begin(), across.power.begin(), across.power.end());
        return raster;
    };
    return volumes;
}

}  // namespace echolux
