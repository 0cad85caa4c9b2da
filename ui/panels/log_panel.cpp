// Panel with all notices, newest first.
#include <fmt/format.h>

#include <algorithm>

#include "compute/counted.h"
#include "engine/io/lower_case.h"
#include "ui/panels/panel_list.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

constexpr std::size_t max_lines = 200;  // maximum number of drawn lines; Copy has no limit

std::string line_of(const Notice& notice) {
    const std::string times = notice.times > 1 ? fmt::format("  ({})", counted(notice.times, "times")) : "";
    return fmt::format("{}  {}{}", duration_text(notice.time_s), notice.line, times);
}

class LogPanel : public NamedPanel {
  public:
    LogPanel() : NamedPanel("log", "Log", PanelSide::left) {}

    void draw(const PanelContext& context) override {
        const Style& style = context.style;
        const std::deque<Notice>& all = context.work.notices().all();
        const float copy = ImGui::CalcTextSize("Copy").x + 2 * ImGui::GetStyle().FramePadding.x;
        const float button = ImGui::GetContentRegionAvail().x - copy - style.px(6);
        ImGui::SetNextItemWidth(button);
        std::array<char, 128> filter{};
        filter_.copy(filter.data(), filter.size() - 1);
        if (ImGui::InputTextWithHint("##filter", "filter", filter.data(), filter.size())) filter_ = filter.data();
        note_place(context, "log.filter");
        ImGui::SameLine(0, style.px(6));
        if (plain_button(context, "log.copy", "Copy", "copy all lines that match the filter to the clipboard"))
            copy_all(all);
        draw_lines(context, all);
    }

  private:
    // Ignores case.
    bool fits(const Notice& notice) const {
        return filter_.empty() ||
               lower_case(notice.place + " " + notice.line).find(lower_case(filter_)) != std::string::npos;
    }

    void copy_all(const std::deque<Notice>& all) const {
        std::string text;
        for (const Notice& notice : all) {
            if (fits(notice)) text += line_of(notice) + "\n";
        }
        ImGui::SetClipboardText(text.c_str());
    }

    void draw_lines(const PanelContext& context, const std::deque<Notice>& all) const {
        const Style& style = context.style;
        if (all.empty()) return muted_text(context, "No messages yet.");
        ImGui::BeginChild("lines", {0, style.px(180)});
        ImGui::PushTextWrapPos(0);
        std::size_t drawn = 0;
        for (auto notice = all.rbegin(); notice != all.rend() && drawn < max_lines; ++notice) {
            if (!fits(*notice)) continue;
            ++drawn;
            const bool is_bad = notice->is_trouble;
            const ImVec4 colour = is_bad && notice->stands ? style.trouble : style.muted;
            ImGui::PushStyleColor(ImGuiCol_Text, colour);
            ImGui::TextUnformatted(line_of(*notice).c_str());
            ImGui::PopStyleColor();
        }
        ImGui::PopTextWrapPos();
        ImGui::EndChild();
    }

    std::string filter_;
};

}  // namespace

std::unique_ptr<Panel> make_log_panel() {
    return std::make_unique<LogPanel>();
}

}  // namespace echolux
