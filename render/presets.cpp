#include "render/presets.h"

namespace echolux {
namespace {

constexpr const char* db = "dB above noise floor";
constexpr const char* hounsfield = "HU";

// Weak scattering stays a veil, so that layers deeper down show through; strong reflections are nearly opaque.
const TransferCurve oct_gray{.nodes = {{3.00, 0.00, 0.00, 0.00, 0},
                                       {10.40, 0.16, 0.16, 0.16, 0},
                                       {19.65, 0.40, 0.40, 0.40, 12},
                                       {30.75, 0.78, 0.78, 0.78, 80},
                                       {40.00, 1.00, 1.00, 1.00, 240}},
                             .unit = db};

// Colours of flesh: dark red where light hardly returns, over salmon to cream at interfaces.
const TransferCurve tissue{.nodes = {{3.00, 0.12, 0.02, 0.03, 0},
                                     {10.40, 0.34, 0.06, 0.06, 0},
                                     {17.80, 0.66, 0.22, 0.16, 12},
                                     {25.94, 0.89, 0.52, 0.36, 48},
                                     {33.34, 0.98, 0.80, 0.62, 140},
                                     {40.00, 1.00, 0.97, 0.90, 280}},
                           .unit = db};

// Layers told apart by hue: nuclear layers blue, plexiform green to yellow, photoreceptors and pigment red to white.
const TransferCurve retina{.nodes = {{3.00, 0.03, 0.05, 0.20, 0},
                                     {10.40, 0.07, 0.22, 0.50, 0},
                                     {16.32, 0.10, 0.46, 0.66, 10},
                                     {22.24, 0.25, 0.70, 0.48, 28},
                                     {28.16, 0.93, 0.80, 0.25, 72},
                                     {34.08, 0.95, 0.42, 0.15, 160},
                                     {40.00, 1.00, 0.94, 0.90, 280}},
                           .unit = db};

// Only what stands out is seen: vessels glow, static tissue is left out.
const TransferCurve angiogram{.nodes = {{6.00, 0.10, 0.00, 0.00, 0},
                                        {16.50, 0.45, 0.02, 0.02, 0},
                                        {24.00, 0.90, 0.22, 0.05, 60},
                                        {30.00, 1.00, 0.62, 0.15, 180},
                                        {36.00, 1.00, 0.96, 0.75, 400}},
                              .unit = db};

// Spongy bone begins near 200 HU, compact bone is above 700; contrast agent in vessels overlaps with the former.
const TransferCurve bone{.nodes = {{100, 0.45, 0.20, 0.12, 0},
                                   {200, 0.62, 0.36, 0.22, 0},
                                   {400, 0.87, 0.72, 0.52, 40},
                                   {800, 0.97, 0.92, 0.80, 220},
                                   {1800, 1.00, 1.00, 0.97, 500}},
                         .unit = hounsfield};

// Fat lies near -100 HU, water at 0, muscle near 50, blood with contrast agent and bone above 150.
const TransferCurve ct_soft_tissue{.nodes = {{-200, 0.55, 0.38, 0.20, 0},
                                             {-130, 0.85, 0.68, 0.38, 0},
                                             {-90, 0.93, 0.80, 0.50, 5},
                                             {-20, 0.85, 0.55, 0.40, 8},
                                             {20, 0.72, 0.26, 0.22, 30},
                                             {80, 0.80, 0.33, 0.28, 70},
                                             {200, 0.97, 0.90, 0.80, 200},
                                             {400, 1.00, 1.00, 0.97, 400}},
                                   .unit = hounsfield};

// The scale of MR is arbitrary: air and noise are left out, the rest is between veil and body.
const TransferCurve mr{.nodes = {{0.00, 0.00, 0.00, 0.00, 0},
                                 {0.15, 0.15, 0.10, 0.12, 0},
                                 {0.35, 0.52, 0.36, 0.34, 12},
                                 {0.60, 0.82, 0.68, 0.60, 60},
                                 {1.00, 1.00, 0.98, 0.94, 240}},
                       .is_relative = true};

const TransferCurve gray{.nodes = {{0.00, 0.00, 0.00, 0.00, 0},
                                   {0.10, 0.12, 0.12, 0.12, 0},
                                   {0.50, 0.58, 0.57, 0.55, 32},
                                   {1.00, 1.00, 0.98, 0.95, 220}},
                         .is_relative = true};

// Linear reflectivity, as some instruments store it, looks as `gray` does by its fourth root.
const TransferCurve fourth_root{.nodes = {{0.0000, 0.00, 0.00, 0.00, 0},
                                          {0.0001, 0.12, 0.12, 0.12, 0},
                                          {0.0039, 0.29, 0.29, 0.29, 12},
                                          {0.0256, 0.46, 0.46, 0.45, 24},
                                          {0.0625, 0.58, 0.57, 0.55, 32},
                                          {0.3164, 0.79, 0.78, 0.75, 126},
                                          {1.0000, 1.00, 0.98, 0.95, 220}},
                                .is_relative = true};

const TransferCurve& automatic_curve(const VolumeGrid& grid) {
    if (grid.quantity == "db") return tissue;
    return grid.quantity == "reflectivity" ? fourth_root : gray;
}

}  // namespace

const TransferCurve& preset_curve(Preset preset, const VolumeGrid& grid) {
    switch (preset) {
        case Preset::automatic: return automatic_curve(grid);
        case Preset::oct_gray: return oct_gray;
        case Preset::tissue: return tissue;
        case Preset::retina: return retina;
        case Preset::angiogram: return angiogram;
        case Preset::bone: return bone;
        case Preset::ct_soft_tissue: return ct_soft_tissue;
        case Preset::mr: return mr;
        case Preset::gray: return gray;
    }
    return gray;
}

}  // namespace echolux
