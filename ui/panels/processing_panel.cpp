// From spectra to voxels: what is subtracted, the way to uniform k, dispersion, window, depth, what a voxel holds. Rows
// that do nothing with the present choices are left out.
#include "app/stage/live_session.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

void rows(const PanelContext& context, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) setting_row(context, key);
}

bool is_instrument(Exhibit& exhibit) {
    return exhibit.live() != nullptr && !exhibit.live()->is_recorded();
}

void draw_background(const PanelContext& context, const Recipe& recipe) {
    setting_row(context, "recipe.background");
    if (recipe.background == Background::running) setting_row(context, "recipe.running_alpha");
    if (recipe.background == Background::rolling) setting_row(context, "recipe.rolling_width");
    setting_row(context, "calibration.background", "background file");
    setting_row(context, "calibration.dark", "dark file");
    if (Exhibit* exhibit = context.work.stage().exhibit(); exhibit != nullptr && is_instrument(*exhibit)) {
        action_button(context, "calibrate.take_background", "Take background");
        ImGui::SameLine();
        action_button(context, "calibrate.take_dark", "Take dark");
    }
    setting_row(context, "recipe.fixed_pattern");
    if (recipe.fixed_pattern == FixedPattern::minimum_variance) {
        setting_row(context, "recipe.fixed_pattern_segments");
    }
}

void draw_method(const PanelContext& context, const Scan& scan) {
    setting_row(context, "recipe.method");
    if (scan.recipe.method == Method::defr) {
        rows(context, {"defr.iterations", "defr.delta", "defr.threshold", "defr.residual", "defr.double_precision"});
    }
    if (scan.recipe.method == Method::compressive) {
        rows(context, {"compressive.transform", "compressive.mask"});
        if (scan.compressive.mask == SensingMask::file) setting_row(context, "calibration.mask", "mask file");
        if (scan.compressive.mask == SensingMask::uniform || scan.compressive.mask == SensingMask::variable) {
            rows(context, {"compressive.share", "compressive.seed"});
        }
        rows(context, {"compressive.iterations", "compressive.tau_relative", "compressive.tau",
                       "compressive.continuation", "compressive.step", "compressive.least_step"});
    }
    const bool senses =
        scan.recipe.method == Method::compressive && scan.compressive.transform == SensingTransform::nufft;
    if (senses || scan.recipe.resample == Resample::nufft) {
        rows(context, {"nufft.kernel", "nufft.oversampling", "nufft.width"});
    }
}

void draw_spectrum(const PanelContext& context, const Recipe& recipe) {
    rows(context, {"recipe.resample", "calibration.k_map", "calibration.k_polynomial", "calibration.wavelengths",
                   "recipe.upsample"});
    if (recipe.upsample > 1) setting_row(context, "recipe.upsample_pad");
    if (recipe.resample == Resample::nufft) setting_row(context, "calibration.k_jitter");
    setting_row(context, "recipe.shaping");
    if (recipe.shaping == Shaping::none) {
        setting_row(context, "recipe.window");
        if (recipe.window == Window::tukey) setting_row(context, "recipe.tukey_alpha");
        if (recipe.window == Window::gaussian) setting_row(context, "recipe.gaussian_sigma");
        return;
    }
    if (recipe.shaping == Shaping::gaussian) setting_row(context, "recipe.shaping_fwhm");
    rows(context, {"recipe.shaping_floor", "recipe.shaping_smooth"});
}

void draw_dispersion(const PanelContext& context, const Recipe& recipe) {
    setting_row(context, "recipe.dispersion", "compensate");
    if (!recipe.dispersion) return;
    rows(context, {"recipe.a2_rad", "recipe.a3_rad", "recipe.gdd_fs2", "recipe.tod_fs3"});
    setting_row(context, "calibration.dispersion", "phase file");
    setting_row(context, "calibration.dispersion_holds", "file holds");
    action_button(context, "calibrate.dispersion", "Find automatically");
}

void draw_depth(const PanelContext& context) {
    rows(context, {"recipe.depth_begin", "recipe.depth_end", "recipe.zero_padding", "calibration.depth_pitch_um"});
}

void draw_levels(const PanelContext& context, const Recipe& recipe) {
    rows(context, {"recipe.quantity", "recipe.voxel", "recipe.precision"});
    if (recipe.voxel == VoxelType::u8 || recipe.voxel == VoxelType::u16) {
        rows(context, {"recipe.levels", "recipe.low", "recipe.high"});
    }
    setting_row(context, "recipe.noise_floor_db");
    setting_row(context, "recipe.noise_floor", "subtract floor");
    if (recipe.noise_floor != NoiseFloor::none) setting_row(context, "calibration.noise_floor", "floor file");
}

class ProcessingPanel : public NamedPanel {
  public:
    ProcessingPanel() : NamedPanel("processing", "Processing", PanelSide::left) {}
    bool is_there(Workspace& work) const override { return work.scan() != nullptr; }

    void draw(const PanelContext& context) override {
        const Scan& scan = *context.work.scan();
        const Recipe recipe = scan.recipe;
        setting_row(context, "recipe.average");
        draw_method(context, scan);
        if (section(context, "Background", true)) draw_background(context, recipe);
        if (section(context, "Spectrum", false)) draw_spectrum(context, recipe);
        if (section(context, "Dispersion", true)) draw_dispersion(context, recipe);
        if (section(context, "Depth", false)) draw_depth(context);
        if (section(context, "Levels", true)) draw_levels(context, recipe);
    }
};

}  // namespace

std::unique_ptr<Panel> make_processing_panel() {
    return std::make_unique<ProcessingPanel>();
}

}  // namespace echolux
