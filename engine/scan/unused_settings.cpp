#include "engine/scan/unused_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

// A key, or "defr." for a whole section, with the key that enables it and its condition.
struct Use {
    std::string_view key, decided_by;
    bool (*is_used)(const Scan& scan);

    bool is_of(std::string_view setting) const {
        return setting != decided_by && (key.ends_with('.') ? setting.starts_with(key) : setting == key);
    }
};

bool has_codes(const Scan& scan) {
    const VoxelType voxel = scan.recipe.voxel;
    return voxel == VoxelType::u8 || voxel == VoxelType::u16 || voxel == VoxelType::i16;
}

bool uses_nufft(const Scan& scan) {
    const bool senses =
        scan.recipe.method == Method::compressive && scan.compressive.transform == SensingTransform::nufft;
    return senses || chosen_resample(scan.recipe, scan.calibration) == Resample::nufft;
}

bool has_random_mask(const Scan& scan) {
    return scan.compressive.mask == SensingMask::uniform || scan.compressive.mask == SensingMask::variable;
}

bool disperses(const Scan& scan) {
    return scan.recipe.dispersion;
}

bool is_shaped(const Scan& scan) {
    return scan.recipe.shaping != Shaping::none;
}

bool averages_steps(const Scan& scan) {
    return scan.flow.method == FlowMethod::doppler || scan.flow.method == FlowMethod::power_doppler ||
           scan.flow.method == FlowMethod::complex_decorrelation;
}

bool compares_steps(const Scan& scan) {
    return scan.flow.method == FlowMethod::doppler || scan.flow.method == FlowMethod::power_doppler;
}

bool is_doppler(const Scan& scan) {
    return scan.flow.method == FlowMethod::doppler;
}

bool aligns(const Scan& scan) {
    return scan.flow.align && !compares_steps(scan);
}

constexpr std::array uses{
    Use{"defr.", "recipe.method", [](const Scan& scan) { return scan.recipe.method == Method::defr; }},
    Use{"compressive.", "recipe.method", [](const Scan& scan) { return scan.recipe.method == Method::compressive; }},
    Use{"compressive.share", "compressive.mask", has_random_mask},
    Use{"compressive.seed", "compressive.mask", has_random_mask},
    Use{"nufft.", "recipe.resample", uses_nufft},
    Use{"flow.", "flow.method", [](const Scan& scan) { return scan.flow.method != FlowMethod::none; }},
    Use{"flow.sub_bands", "flow.method",
        [](const Scan& scan) { return scan.flow.method == FlowMethod::decorrelation; }},
    Use{"flow.correlation_reach", "flow.method",
        [](const Scan& scan) { return scan.flow.method == FlowMethod::correlation; }},
    Use{"flow.window_depth", "flow.method",
        [](const Scan& scan) { return averages_steps(scan) || scan.flow.method == FlowMethod::cdv; }},
    Use{"flow.window_lines", "flow.method", averages_steps},
    Use{"flow.significance", "flow.method",
        [](const Scan& scan) { return scan.flow.method == FlowMethod::complex_decorrelation; }},
    Use{"flow.align", "flow.method", [](const Scan& scan) { return scan.flow.align || !compares_steps(scan); }},
    Use{"flow.align_depth", "flow.align", aligns},
    Use{"flow.align_lines", "flow.align", aligns},
    Use{"flow.min_match", "flow.align", aligns},
    Use{"flow.bulk_motion", "flow.method", compares_steps},
    Use{"flow.unwrap", "flow.method", is_doppler},
    Use{"flow.invert", "flow.method", is_doppler},
    Use{"flow.angle_deg", "flow.method", is_doppler},
    Use{"recipe.upsample_pad", "recipe.upsample", [](const Scan& scan) { return scan.recipe.upsample > 1; }},
    Use{"recipe.running_alpha", "recipe.background",
        [](const Scan& scan) { return scan.recipe.background == Background::running; }},
    Use{"recipe.rolling_width", "recipe.background",
        [](const Scan& scan) { return scan.recipe.background == Background::rolling; }},
    Use{"recipe.fixed_pattern_segments", "recipe.fixed_pattern",
        [](const Scan& scan) { return scan.recipe.fixed_pattern == FixedPattern::minimum_variance; }},
    Use{"recipe.window", "recipe.shaping", [](const Scan& scan) { return !is_shaped(scan); }},
    Use{"recipe.tukey_alpha", "recipe.window",
        [](const Scan& scan) { return scan.recipe.window == Window::tukey && !is_shaped(scan); }},
    Use{"recipe.gaussian_sigma", "recipe.window",
        [](const Scan& scan) { return scan.recipe.window == Window::gaussian && !is_shaped(scan); }},
    Use{"recipe.shaping_fwhm", "recipe.shaping",
        [](const Scan& scan) { return scan.recipe.shaping == Shaping::gaussian; }},
    Use{"recipe.shaping_floor", "recipe.shaping", is_shaped},
    Use{"recipe.shaping_smooth", "recipe.shaping", is_shaped},
    Use{"recipe.a2_rad", "recipe.dispersion", disperses},
    Use{"recipe.a3_rad", "recipe.dispersion", disperses},
    Use{"recipe.gdd_fs2", "recipe.dispersion", disperses},
    Use{"recipe.tod_fs3", "recipe.dispersion", disperses},
    Use{"recipe.low", "recipe.voxel", has_codes},
    Use{"recipe.high", "recipe.voxel", has_codes},
};

}  // namespace

bool has_effect(const Scan& scan, std::string_view key) {
    return std::ranges::none_of(uses, [&](const Use& one) { return one.is_of(key) && !one.is_used(scan); });
}

std::vector<std::string> unused_settings(const Scan& scan, std::span<const std::string> assignments) {
    Scan copy = scan;
    Settings settings;
    bind(settings, copy);
    const auto value_of = [&](std::string_view key) {
        const auto field =
            std::ranges::find_if(settings.fields(), [&](const BoundField& bound) { return bound.key() == key; });
        const Value value = field->get();
        const auto* text = std::get_if<std::string>(&value);
        return text != nullptr ? *text : spelled(value);
    };
    std::vector<std::string> lines;
    std::set<std::string> told;
    for (const std::string& assignment : assignments) {
        const std::string key = assignment.substr(0, assignment.find('='));
        const auto use =
            std::ranges::find_if(uses, [&](const Use& one) { return one.is_of(key) && !one.is_used(scan); });
        if (use == uses.end() || !told.insert(key).second) continue;
        lines.push_back(fmt::format("{} has no effect: {} is {}", key, use->decided_by, value_of(use->decided_by)));
    }
    return lines;
}

}  // namespace echolux
