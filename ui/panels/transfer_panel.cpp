// Panel for the transfer function: curve, range of values and opacity.
#include "app/transfer/transfer_file.h"
#include "ui/panels/channel_rows.h"
#include "ui/panels/curve_editor.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/plane_editor.h"
#include "ui/panels/volume_facts.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

class TransferPanel : public NamedPanel {
  public:
    TransferPanel() : NamedPanel("transfer", "Transfer function", PanelSide::right) {}
    bool is_there(Workspace& work) const override { return work.is_open(); }

    void draw(const PanelContext& context) override {
        Workspace& work = context.work;
        setting_row(context, "view.preset");
        draw_curve(context);
        if (work.view().transfer_curve) draw_own_curve(context);  // below, so that the curve does not move
        for (const char* key : {"view.low", "view.high", "view.range", "view.opacity"}) setting_row(context, key);
        draw_plane_section(context);
        if (section(context, "More", false)) draw_more(context);
    }

  private:
    static void draw_own_curve(const PanelContext& context) {
        Workspace& work = context.work;
        muted_text(context, work.view().transfer.empty() ? "Custom curve." : "From a file.");
        ImGui::SameLine();
        if (plain_button(context, "transfer.back", "Back to the preset")) {
            work.change("view.preset", work.field("view.preset")->get());
        }
    }

    void draw_curve(const PanelContext& context) {
        Workspace& work = context.work;
        Exhibit& exhibit = *work.stage().exhibit();
        const auto grid = exhibit.grid();
        const auto shown = function_in_use(work, work.view());
        if (!grid || !shown) return CurveEditor::draw_without_volume(context);
        // The points of the curve are edited without the colour map.
        View without_map = work.view();
        without_map.colour_map = "preset";
        const auto bare = function_in_use(work, without_map);
        if (bare) editor_.draw(context, *shown, *bare, exhibit.histogram(), *grid);
    }

    // Also drawn without a volume, so that the layout does not change when one arrives.
    void draw_plane_section(const PanelContext& context) {
        if (!section(context, "Second axis", false)) return;
        Workspace& work = context.work;
        const auto grid = work.stage().exhibit()->grid();
        View without_map = work.view();
        without_map.colour_map = "preset";
        const auto bare = function_in_use(work, without_map);
        if (grid && bare) plane_.draw(context, *bare, *grid);
    }

    static void draw_more(const PanelContext& context) {
        for (const char* key : {"view.colour_map", "view.opacity_length_um", "view.transfer"}) {
            setting_row(context, key);
        }
        draw_add_channel(context);
        if (!plain_button(context, "transfer.save", "Save the curve...", "as a file for view.transfer")) return;
        Workspace& work = context.work;
        context.state.file_wish = FileWish{.kind = FileWish::Kind::save,
                                           .title = "Save the transfer function",
                                           .suggested = "transfer.toml",
                                           .endings = {".toml"},
                                           .chosen = [&work](const auto& path) { save(work, path); }};
    }

    static void save(Workspace& work, const std::filesystem::path& path) {
        try {
            Exhibit* exhibit = work.stage().exhibit();
            const auto grid = exhibit != nullptr ? exhibit->grid() : std::nullopt;
            const auto function = function_in_use(work, work.view());
            work.check_kept_name(path);
            if (grid && function) write_transfer(path, curve_in_use(work.view(), *grid, *function));
        } catch (const Error& error) {
            work.notices().trouble("view", error);
        }
    }

    CurveEditor editor_;
    PlaneEditor plane_;
};

}  // namespace

std::unique_ptr<Panel> make_transfer_panel() {
    return std::make_unique<TransferPanel>();
}

}  // namespace echolux
