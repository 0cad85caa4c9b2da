#include "engine/simulate/simulated_files.h"

#include <string>

#include "engine/io/own_files.h"
#include "engine/scan/scan_heading.h"

namespace echolux {

bool is_own_simulation(const std::filesystem::path& scan_toml) {
    std::error_code problem;
    return begins_with(scan_toml, scan_toml_heading) && !holds_near_an_end(scan_toml, "[recording]") &&
           std::filesystem::exists(scan_toml.parent_path() / "truth" / "truth.toml", problem);
}

std::vector<Output> outputs_of_simulation(const std::filesystem::path& scan_toml) {
    const std::filesystem::path folder = scan_toml.parent_path();
    const auto goes_with_it = [is_own = is_own_simulation(scan_toml)](const std::filesystem::path&) { return is_own; };
    std::vector<Output> outputs{{scan_toml, goes_with_it, {".toml"}}, {folder / "truth", goes_with_it}};
    for (const char* ending : companion_endings) {
        outputs.push_back({folder / (scan_toml.stem().string() + ending), goes_with_it});
    }
    return outputs;
}

}  // namespace echolux
