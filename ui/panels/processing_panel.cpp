// Panel for the reconstruction from spectra to voxels: background, k linearization, dispersion, window, depth and
// levels. Settings without effect are omitted.
#include "app/stage/live_session.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

bool is_instrument(Exhibit& exhibit) {
    return exhibit.live() != nullptr && !exhibit.live()->is_recorded();
}

void draw_background(const PanelContext& context) {
    setting_rows(context, {"recipe.background", "recipe.running_alpha", "recipe.rolling_width"});
    setting_row(context, "calibration.background", "background file");
    setting_row(context, "calibration.dark", "dark file");
    if (Exhibit* exhibit = context.work.stage().exhibit(); exhibit != nullptr && is_instrument(*exhibit)) {
        action_button(context, "calibrate.take_background", "Take background");
        ImGui::SameLine();
        action_button(context, "calibrate.take_dark", "Take dark");
    }
    setting_rows(context, {"recipe.fixed_pattern", "recipe.fixed_pattern_segments"});
}

void draw_method(const PanelContext& context, const Scan& scan) {
    setting_rows(context, {"recipe.method", "defr.iterations", "defr.delta", "defr.threshold", "defr.residual",
                           "defr.double_precision", "compressive.transform", "compressive.mask"});
    if (scan.recipe.method == Method::compressive && scan.compressive.mask == SensingMask::file) {
        setting_row(context, "calibration.mask", "mask file");
    }
    setting_rows(context,
                 {"compressive.share", "compressive.seed", "compressive.iterations", "compressive.tau_relative",
                  "compressive.tau", "compressive.continuation", "compressive.step", "compressive.min_step",
                  "nufft.kernel", "nufft.oversampling", "nufft.width"});
}

void draw_spectrum(const PanelContext& context, const Recipe& recipe) {
    setting_rows(context, {"recipe.resample", "calibration.k_map", "calibration.k_polynomial",
                           "calibration.wavelengths", "recipe.upsample", "recipe.upsample_pad"});
    if (recipe.resample == Resample::nufft) setting_row(context, "calibration.k_jitter");
    setting_rows(context, {"recipe.shaping", "recipe.window", "recipe.tukey_alpha", "recipe.gaussian_sigma",
                           "recipe.shaping_fwhm", "recipe.shaping_floor", "recipe.shaping_smooth"});
}

void draw_dispersion(const PanelContext& context, const Recipe& recipe) {
    setting_row(context, "recipe.dispersion", "compensate");
    if (!recipe.dispersion) return;
    setting_rows(context, {"recipe.a2_rad", "recipe.a3_rad", "recipe.gdd_fs2", "recipe.tod_fs3"});
    setting_row(context, "calibration.dispersion", "phase file");
    setting_row(context, "calibration.dispersion_holds", "file holds");
    action_button(context, "calibrate.dispersion", "Find automatically");
}

void draw_depth(const PanelContext& context) {
    setting_rows(context,
                 {"recipe.depth_begin", "recipe.depth_end", "recipe.zero_padding", "calibration.depth_pitch_um"});
}

void draw_levels(const PanelContext& context, const Recipe& recipe) {
    setting_rows(context, {"recipe.quantity", "recipe.voxel", "recipe.precision", "recipe.levels", "recipe.low",
                           "recipe.high", "recipe.noise_floor_db"});
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
        if (section(context, "Background", true)) draw_background(context);
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
