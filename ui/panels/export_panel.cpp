// Pictures, volumes and sessions in files, and presets of one's own.
#include "engine/io/volume_file.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/text_box.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

// The name of what is open, with another ending.
std::string suggested_name(Workspace& work, const std::string& ending) {
    const std::string name = work.stage().exhibit()->name();
    std::string stem;
    for (const char c : name.substr(0, name.find_last_of('.'))) {
        const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
        if (is_plain || (!stem.empty() && stem.back() != '-')) stem += is_plain ? c : '-';
    }
    while (stem.ends_with('-')) stem.pop_back();
    return (stem.empty() ? "echolux" : stem) + ending;
}

void wish_to_save(const PanelContext& context, const char* title, const std::vector<std::string>& endings,
                  std::function<void(const std::filesystem::path&)> save) {
    context.state.file_wish = FileWish{.kind = FileWish::Kind::save,
                                       .title = title,
                                       .suggested = suggested_name(context.work, endings.front()),
                                       .endings = endings,
                                       .chosen = std::move(save)};
}

// What cannot be done now, or fails later beside the picture, is trouble of this panel.
void save_volume(Workspace& work, const std::filesystem::path& path) {
    const auto fails = [&work](const Error& error) { work.notices().trouble("export", error); };
    try {
        Exhibit* exhibit = work.stage().exhibit();
        auto shown = exhibit != nullptr ? exhibit->volume() : std::nullopt;
        if (!shown) throw Error(ErrorCode::output, "there is no volume to be saved yet", path.string());
        check_volume_name(path, shown->grid.type);
        const auto volume = std::make_shared<const Volume>(std::move(*shown));
        const auto write = [volume, path, &work](Progress&) -> Jobs::LastStep {
            write_volume(path, *volume);
            return [path, &work] { work.notices().note("export", "saved " + path.string()); };
        };
        work.jobs().start("saving " + path.filename().string(), write, fails);
    } catch (const Error& error) {
        fails(error);
    }
}

void draw_picture(const PanelContext& context) {
    Workspace& work = context.work;
    for (const char* key : {"view.width", "view.height", "view.samples", "view.transparent"}) setting_row(context, key);
    if (plain_button(context, "export.picture", "Save picture...",
                     "at this size and in full quality; it carries all settings: opening it restores them")) {
        wish_to_save(context, "Save a picture", {".png"}, [&work](const auto& path) { work.take_screenshot(path); });
    }
}

void draw_volume(const PanelContext& context) {
    Workspace& work = context.work;
    if (plain_button(context, "export.volume", "Save volume...", "NRRD, NIfTI, TIFF or MetaImage, by its name")) {
        wish_to_save(context, "Save the volume", {".nrrd", ".nii.gz", ".nii", ".tif", ".mha"},
                     [&work](const auto& path) { save_volume(work, path); });
    }
}

void draw_session(const PanelContext& context) {
    Workspace& work = context.work;
    if (plain_button(context, "export.session", "Save session...",
                     "everything that is set and what is open, as one TOML file")) {
        wish_to_save(context, "Save the session", {".toml"}, [&work](const auto& path) {
            try {
                work.save_session(path);
            } catch (const Error& error) {
                work.notices().trouble("export", error);
            }
        });
    }
}

class ExportPanel : public NamedPanel {
  public:
    ExportPanel() : NamedPanel("export", "Export and presets", PanelSide::right) {}
    bool is_there(Workspace& work) const override { return work.is_open(); }

    void draw(const PanelContext& context) override {
        standing_notice(context, "export");
        if (section(context, "Picture", true)) draw_picture(context);
        draw_volume(context);
        ImGui::SameLine();
        draw_session(context);
        if (section(context, "Presets of one's own", true)) draw_presets(context);
    }

  private:
    void draw_presets(const PanelContext& context) {
        for (const std::string& name : context.work.presets()) {
            if (ImGui::Selectable(name.c_str())) attempt(context, "export", [&] { context.work.use_preset(name); });
            note_place(context, "preset:" + name);
            tooltip(context, "sets view, recipe and flow as they were kept; undo takes it back");
        }
        const float button = ImGui::CalcTextSize("Keep").x + 2 * ImGui::GetStyle().FramePadding.x;
        const float width = ImGui::GetContentRegionAvail().x - button - context.style.px(6);
        if (const auto typed = text_box(context, "##name", preset_, width, "name of a new preset")) preset_ = *typed;
        note_place(context, "export.preset_name");
        ImGui::SameLine(0, context.style.px(6));
        if (plain_button(context, "export.keep", "Keep", "view, recipe and flow by this name", !preset_.empty()) &&
            attempt(context, "export", [&] { context.work.save_preset(preset_); })) {
            preset_.clear();
        }
    }

    std::string preset_;  // name that is being typed
};

}  // namespace

std::unique_ptr<Panel> make_export_panel() {
    return std::make_unique<ExportPanel>();
}

}  // namespace echolux
