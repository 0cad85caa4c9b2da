// About sheet with version, devices and licences, see sheets.h.
#include "ui/window/sheets.h"

#include <string>

#include "engine/version.h"
#include "ui/panels/widgets.h"

namespace echolux {

void About::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    begin_sheet(context, size, "about", {460, 0, -1, true});
    ImGui::PushFont(context.style.large);
    ImGui::TextUnformatted("Echolux");
    ImGui::PopFont();
    muted_text(context, "OCT spectra to volumes, live and in 4-D.");
    ImGui::Dummy({0, context.style.px(8)});
    figure(context, "Version", std::string(version));
    figure(context, "Pictures", context.work.stage().renderer().device_name());
    figure(context, "Interface", std::string("Dear ImGui ") + ImGui::GetVersion());
    ImGui::Dummy({0, context.style.px(8)});
    muted_text(context,
               "Apache License 2.0. The fonts Inter and JetBrains Mono are under the SIL Open Font License 1.1. Not a "
               "medical device.");
    ImGui::Dummy({0, context.style.px(8)});
    if (plain_button(context, "about.close", "Close")) close();
    end_sheet();
}

}  // namespace echolux
