#include "ui/panels/control_hints.h"

#include <algorithm>
#include <array>

namespace echolux {
namespace {

struct StandIn {
    std::string_view key;
    double value;
    std::string_view word;
};

constexpr std::array stand_ins{
    StandIn{"view.low", -1e12, "auto"},
    StandIn{"view.high", 1e12, "auto"},
    StandIn{"view.isovalue", -1e12, "auto"},
    StandIn{"view.opacity_length_um", 0, "auto"},
    StandIn{"view.top_um", -1e9, "all"},
    StandIn{"view.bottom_um", 1e9, "all"},
    StandIn{"view.slab_um", 0, "one sample"},
    StandIn{"view.flow_threshold", -1, "auto"},
    StandIn{"view.flow_range", 0, "auto"},
    StandIn{"view.flow_v_max", 0, "auto"},
    StandIn{"recipe.depth_end", 0, "end"},
    StandIn{"recipe.noise_floor_db", 0, "measured"},
    StandIn{"flow.angle_deg", 0, "axial"},
    StandIn{"scan.bits", 0, "all"},
    StandIn{"scan.line_bytes", 0, "no gap"},
    StandIn{"scan.spacing_a_um", 0, "unknown"},
    StandIn{"scan.spacing_b_um", 0, "unknown"},
    StandIn{"scan.line_rate_hz", 0, "unknown"},
    StandIn{"calibration.depth_pitch_um", 0, "auto"},
    StandIn{"calibration.centre_wavelength_nm", 0, "auto"},
    StandIn{"source.line_rate_hz", 0, "as it is"},
    StandIn{"source.exposure_us", 0, "as it is"},
    StandIn{"source.block_b_scans", 0, "auto"},
    StandIn{"source.pool_blocks", 0, "auto"},
    StandIn{"window.scale", 0, "auto"},
    StandIn{"window.autosave_s", 0, "never"},
};

struct KeyReach {
    std::string_view key;
    Reach reach;
};

// Ranges that leave room for everything are too wide to be dragged through; the rest of them can be typed.
constexpr std::array key_reaches{
    KeyReach{"view.azimuth_deg", {-180, 180}},
    KeyReach{"view.elevation_deg", {-90, 90}},
    KeyReach{"view.roll_deg", {-180, 180}},
    KeyReach{"view.lamp_azimuth_deg", {-180, 180}},
    KeyReach{"view.lamp_elevation_deg", {-90, 90}},
    KeyReach{"view.zoom", {0.1, 20}},
    KeyReach{"view.distance", {0, 3}},
    KeyReach{"view.opacity", {0.01, 100}},
    KeyReach{"view.attenuation", {0, 40}},
    KeyReach{"view.step", {0.1, 4}},
    KeyReach{"view.samples", {1, 64}},
    KeyReach{"view.rest_samples", {1, 256}},
    KeyReach{"view.frame_ms", {5, 200}},
    KeyReach{"view.text_size", {0.01, 0.1}},
    KeyReach{"view.width", {256, 8192}},
    KeyReach{"view.height", {256, 8192}},
    KeyReach{"view.time_s", {0, 60}},
    KeyReach{"view.flow_range", {0, 50}},
    KeyReach{"view.flow_threshold", {0, 10}},
    KeyReach{"view.flow_v_max", {0, 50}},
    KeyReach{"recipe.a2_rad", {-100, 100}},
    KeyReach{"recipe.a3_rad", {-50, 50}},
    KeyReach{"recipe.gdd_fs2", {-50000, 50000}},
    KeyReach{"recipe.tod_fs3", {-1e6, 1e6}},
    KeyReach{"recipe.low", {-20, 60}},
    KeyReach{"recipe.high", {0, 100}},
    KeyReach{"recipe.noise_floor_db", {0, 120}},
    KeyReach{"recipe.rolling_width", {1, 1024}},
    KeyReach{"recipe.fixed_pattern_segments", {2, 64}},
    KeyReach{"recipe.shaping_fwhm", {0.05, 2}},
    KeyReach{"recipe.shaping_smooth", {1, 127}},
    KeyReach{"flow.threshold_db", {-10, 50}},
    KeyReach{"scan.refractive_index", {1, 2}},
    KeyReach{"scan.line_rate_hz", {1000, 2e6}},
    KeyReach{"scan.spacing_a_um", {0, 100}},
    KeyReach{"scan.spacing_b_um", {0, 100}},
    KeyReach{"calibration.depth_pitch_um", {0, 50}},
    KeyReach{"calibration.centre_wavelength_nm", {400, 1700}},
    KeyReach{"source.line_rate_hz", {1000, 2e6}},
    KeyReach{"source.exposure_us", {1, 1000}},
    KeyReach{"source.block_b_scans", {0, 64}},
    KeyReach{"source.pool_blocks", {0, 256}},
    KeyReach{"window.scale", {0.75, 3}},
    KeyReach{"window.autosave_s", {0, 120}},
};

constexpr std::array calibration_files{"background",  "dark",      "k_map", "wavelengths", "dispersion",
                                       "noise_floor", "fast_axis", "mask",  "k_jitter"};
constexpr std::array height_maps{"view.top_from", "view.bottom_from", "view.flatten"};

void hint_at_files(std::string_view key, ControlHint& hint) {
    if (key == "window.record_folder") hint.picks = Picks::folder;
    if (key == "view.transfer") {
        hint.picks = Picks::file;
        hint.endings = {".toml", ".json"};
    }
    if (std::ranges::find(height_maps, key) != height_maps.end()) hint.picks = Picks::file;
    constexpr std::string_view calibration = "calibration.";
    if (!key.starts_with(calibration)) return;
    key.remove_prefix(calibration.size());
    if (std::ranges::find(calibration_files, key) != calibration_files.end()) {
        hint.picks = Picks::file;
        hint.endings = {".txt", ".csv", ".f32", ".f64"};
    }
}

double longest(const VolumeFacts& facts) {
    return facts.extents_um.empty() ? 1000 : *std::ranges::max_element(facts.extents_um);
}

// Half as much again as what occurs, or is shown; low stays below high.
Reach reach_of_values(std::string_view key, const VolumeFacts& facts) {
    const Reach shown = facts.range_in_use.value_or(Reach{0, 1});
    const Reach values = facts.values.value_or(shown);
    const double length = std::max(values.high - values.low, shown.high - shown.low);
    const double more = 0.25 * length, least = 0.01 * length;
    const double low = std::min(values.low, shown.low) - more, high = std::max(values.high, shown.high) + more;
    if (key == "view.low") return {low, shown.high - least};
    if (key == "view.high") return {shown.low + least, high};
    return {low, high};
}

std::optional<Reach> reach_in_volume(std::string_view key, const FieldText& field, const VolumeFacts& facts) {
    if (field.unit == "value") return reach_of_values(key, facts);
    if (key == "recipe.depth_begin" || key == "recipe.depth_end") {
        if (facts.depth_bins > 0) return Reach{0, static_cast<double>(facts.depth_bins)};
        return Reach{0, 2048};
    }
    if (field.unit != "um" || field.high < 1e9) return std::nullopt;
    if ((key == "view.top_um" || key == "view.bottom_um") && !facts.extents_um.empty()) {
        return Reach{facts.first_depth_um, facts.first_depth_um + facts.extents_um[0]};
    }
    if (field.low >= 0) return Reach{0, longest(facts)};
    return Reach{-0.5 * longest(facts), 0.5 * longest(facts)};
}

}  // namespace

ControlHint hint_for(std::string_view key, const FieldText& field, const VolumeFacts& facts) {
    ControlHint hint;
    if (const auto* found = std::ranges::find(stand_ins, key, &StandIn::key); found != stand_ins.end()) {
        hint.stands_for = found->value;
        hint.word = found->word;
    }
    hint.reach = reach_in_volume(key, field, facts);
    if (const auto* found = std::ranges::find(key_reaches, key, &KeyReach::key); found != key_reaches.end()) {
        hint.reach = found->reach;
    }
    hint_at_files(key, hint);
    if (key == "recipe.upsample" || key == "recipe.zero_padding") hint.only = {1, 2, 4};
    return hint;
}

std::vector<std::string_view> hinted_keys() {
    std::vector<std::string_view> keys(height_maps.begin(), height_maps.end());
    for (const StandIn& stand_in : stand_ins) keys.push_back(stand_in.key);
    for (const KeyReach& reach : key_reaches) keys.push_back(reach.key);
    return keys;
}

std::optional<double> value_in_effect(std::string_view key, const VolumeFacts& facts) {
    if (key == "view.bottom_um" && !facts.extents_um.empty()) return facts.first_depth_um + facts.extents_um[0];
    if (key == "view.top_um" && !facts.extents_um.empty()) return facts.first_depth_um;
    if (key == "recipe.depth_end" && facts.depth_bins > 0) return static_cast<double>(facts.depth_bins);
    if (key == "view.opacity_length_um" && !facts.extents_um.empty()) return facts.extents_um[0];
    if (!facts.range_in_use) return std::nullopt;
    if (key == "view.low") return facts.range_in_use->low;
    if (key == "view.high") return facts.range_in_use->high;
    if (key == "view.isovalue") return 0.5 * (facts.range_in_use->low + facts.range_in_use->high);
    return std::nullopt;
}

}  // namespace echolux
