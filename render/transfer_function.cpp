#include "render/transfer_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/error.h"

namespace echolux {
namespace {

struct PresetCurve {
    std::vector<TransferNode> nodes;
    ValueRange range_db;  // above the noise floor
};

// Weak scattering stays a veil, so that layers deeper down show through; strong reflections are nearly opaque.
const PresetCurve oct_gray{{{0.00, 0.00, 0.00, 0.00, 0},
                            {0.20, 0.16, 0.16, 0.16, 0},
                            {0.45, 0.40, 0.40, 0.40, 12},
                            {0.75, 0.78, 0.78, 0.78, 80},
                            {1.00, 1.00, 1.00, 1.00, 240}},
                           {3, 40}};

// Colours of flesh: dark red where light hardly returns, over salmon to cream at interfaces.
const PresetCurve tissue{{{0.00, 0.12, 0.02, 0.03, 0},
                          {0.20, 0.34, 0.06, 0.06, 0},
                          {0.40, 0.66, 0.22, 0.16, 12},
                          {0.62, 0.89, 0.52, 0.36, 48},
                          {0.82, 0.98, 0.80, 0.62, 140},
                          {1.00, 1.00, 0.97, 0.90, 280}},
                         {3, 40}};

// Layers told apart by hue: nuclear layers blue, plexiform green to yellow, photoreceptors and pigment red to white.
const PresetCurve retina{{{0.00, 0.03, 0.05, 0.20, 0},
                          {0.20, 0.07, 0.22, 0.50, 0},
                          {0.36, 0.10, 0.46, 0.66, 10},
                          {0.52, 0.25, 0.70, 0.48, 28},
                          {0.68, 0.93, 0.80, 0.25, 72},
                          {0.84, 0.95, 0.42, 0.15, 160},
                          {1.00, 1.00, 0.94, 0.90, 280}},
                         {3, 40}};

// Only what stands out is seen: vessels glow, static tissue is left out.
const PresetCurve angiogram{{{0.00, 0.10, 0.00, 0.00, 0},
                             {0.35, 0.45, 0.02, 0.02, 0},
                             {0.60, 0.90, 0.22, 0.05, 60},
                             {0.80, 1.00, 0.62, 0.15, 180},
                             {1.00, 1.00, 0.96, 0.75, 400}},
                            {6, 36}};

const PresetCurve gray{{{0.00, 0.00, 0.00, 0.00, 0},
                        {0.10, 0.12, 0.12, 0.12, 0},
                        {0.50, 0.58, 0.57, 0.55, 32},
                        {1.00, 1.00, 0.98, 0.95, 220}},
                       {0, 40}};

bool is_above_noise_floor(const VolumeGrid& grid) {
    return grid.unit == "dB above noise floor";
}

const PresetCurve& curve_of(Preset preset, const VolumeGrid& grid) {
    switch (preset) {
        case Preset::automatic: return grid.quantity == "db" ? tissue : gray;
        case Preset::oct_gray: return oct_gray;
        case Preset::tissue: return tissue;
        case Preset::retina: return retina;
        case Preset::angiogram: return angiogram;
        case Preset::gray: return gray;
    }
    return gray;
}

// The ends that the view leaves open are those of `automatic`.
ValueRange completed(const View& view, ValueRange automatic) {
    if (view.low != lowest_value) automatic.low = view.low;
    if (view.high != highest_value) automatic.high = view.high;
    if (automatic.low < automatic.high) return automatic;
    throw Error(ErrorCode::bad_setting,
                fmt::format("the preset would go from {:g} down to {:g}, one end as asked, the other as chosen",
                            automatic.low, automatic.high),
                "view.low, view.high", "set both");
}

std::uint8_t byte_of(double part) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(part, 0.0, 1.0)));
}

}  // namespace

TransferNode TransferFunction::at(double level) const {
    const double x = std::clamp(level, 0.0, 1.0);
    std::size_t i = 1;
    while (i + 1 < nodes.size() && nodes[i].level < x) ++i;
    const TransferNode& a = nodes[i - 1];
    const TransferNode& b = nodes[i];
    const double part = (x - a.level) / (b.level - a.level);
    return {x, std::lerp(a.red, b.red, part), std::lerp(a.green, b.green, part), std::lerp(a.blue, b.blue, part),
            std::lerp(a.extinction, b.extinction, part)};
}

double TransferFunction::first_visible_level() const {
    double level = 0;
    for (const TransferNode& node : nodes) {
        if (node.extinction > 0) return level;
        level = node.level;
    }
    return 1;
}

TransferFunction transfer_function(const View& view, const VolumeGrid& grid, const ValueRange& percentiles) {
    // The greatest of some hundred speckles on a ray lies about ln 100 = 6.6 dB above their mean.
    constexpr double speckle_maximum_db = 7;
    const PresetCurve& curve = curve_of(view.preset, grid);
    ValueRange range_db = curve.range_db;
    if (view.mode == ViewMode::mip) {
        range_db.low += speckle_maximum_db;
        range_db.high += speckle_maximum_db;
    }
    return {curve.nodes, completed(view, is_above_noise_floor(grid) ? range_db : percentiles)};
}

TransferTable transfer_table(const TransferFunction& function, int entries) {
    TransferTable table;
    for (int i = 0; i < entries; ++i) {
        const TransferNode node = function.at(static_cast<double>(i) / (entries - 1));
        table.extinctions.push_back(static_cast<float>(node.extinction));
        table.colours.push_back({byte_of(node.red), byte_of(node.green), byte_of(node.blue), 255});
    }
    return table;
}

}  // namespace echolux
