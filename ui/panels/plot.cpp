#include "ui/panels/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "compute/indexing.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

// A plot while it is drawn: its position on the screen and the visible range of its axes.
class PlotArea {
  public:
    PlotArea(const PanelContext& context, const Plot& plot, const PlotZoom& zoom, ImVec2 at, ImVec2 size)
        : style_(context.style), plot_(plot), list_(ImGui::GetWindowDrawList()),
          across_(zoom.across.value_or(plot.whole_across)), up_(upward_range()) {
        const float line = ImGui::GetTextLineHeight();
        low_ = {at.x + style_.px(46), at.y + line + style_.px(6)};
        high_ = {at.x + size.x - style_.px(16), at.y + size.y - line - style_.px(8)};
        high_ = {std::max(high_.x, low_.x + 1), std::max(high_.y, low_.y + 1)};
        heading_ = at;
    }

    float width() const { return high_.x - low_.x; }
    float height() const { return high_.y - low_.y; }
    ImVec2 low() const { return low_; }
    ImVec2 high() const { return high_; }
    const PlotRange& across() const { return across_; }

    // Grid lines with labels: about one per 70 pixels across and 34 pixels up.
    void draw_frame() const {
        list_->AddRectFilled(low_, high_, ImGui::GetColorU32(ImGuiCol_FrameBg));
        const auto step_of = [](const std::vector<double>& places) {
            return places.size() > 1 ? places[1] - places[0] : 1.0;
        };
        const std::vector<double> columns = ticks(across_, static_cast<std::int64_t>(width() / style_.px(70)));
        for (const double x : columns) {
            const float place = x_of(x);
            list_->AddLine({place, low_.y}, {place, high_.y}, faint());
            draw_label(tick_text(x, step_of(columns)), {place, high_.y + style_.px(3)}, 0.5f, 0);
        }
        const PlotRange shown = plot_.is_logarithmic ? PlotRange{std::log10(up_.low), std::log10(up_.high)} : up_;
        const std::vector<double> rows = ticks(shown, static_cast<std::int64_t>(height() / style_.px(34)));
        for (const double row : rows) {
            const double value = plot_.is_logarithmic ? std::pow(10, row) : row;
            const float place = y_of(value);
            list_->AddLine({low_.x, place}, {high_.x, place}, faint());
            const std::string text = plot_.is_logarithmic ? short_number(value) : tick_text(row, step_of(rows));
            draw_label(text, {low_.x - style_.px(5), place}, 1, 0.5f);
        }
        draw_titles();
    }

    void draw_curves() const {
        ImGui::PushClipRect(low_, high_, true);
        for (const PlotBand& band : plot_.bands) draw_band(band);
        for (const PlotTrace& trace : plot_.traces) draw_trace(trace);
        for (const PlotLevel& level : plot_.levels) draw_level(level);
        draw_legend();
        ImGui::PopClipRect();
    }

    // Tooltip with the values of all named traces at the pointer.
    void draw_read_out(float pointer_x) const {
        const double x = across_.at(static_cast<double>((pointer_x - low_.x) / width()));
        list_->AddLine({pointer_x, low_.y}, {pointer_x, high_.y}, ImGui::GetColorU32(ImGuiCol_TextDisabled));
        ImGui::BeginTooltip();
        ImGui::PushFont(style_.numbers);
        ImGui::TextColored(style_.muted, "%s %s", short_number(x).c_str(), plot_.across.unit);
        for (const PlotTrace& trace : plot_.traces) {
            const double i = std::round((x - trace.curve.first) / trace.curve.step);
            if (*trace.name == '\0' || i < 0 || i >= static_cast<double>(trace.curve.values.size())) continue;
            const float value = trace.curve.values[static_cast<std::size_t>(i)];
            ImGui::TextColored(trace.colour, "%s", trace.name);
            ImGui::SameLine();
            ImGui::Text("%s %s", short_number(static_cast<double>(value)).c_str(), plot_.up.unit);
        }
        ImGui::PopFont();
        ImGui::EndTooltip();
    }

  private:
    // Range of the vertical axis, which must be positive on a logarithmic scale.
    PlotRange upward_range() const {
        if (plot_.up_range) return *plot_.up_range;
        std::vector<std::span<const float>> curves;
        for (const PlotTrace& trace : plot_.traces) curves.push_back(trace.curve.values);
        for (const PlotBand& band : plot_.bands) {
            curves.push_back(band.low.values);
            curves.push_back(band.high.values);
        }
        PlotRange range = fitting_range(curves);
        if (plot_.is_logarithmic) range.low = std::max(range.low, range.high * 1e-6);
        return range;
    }

    float x_of(double x) const { return low_.x + static_cast<float>(across_.share(x)) * width(); }
    float y_of(double y) const {
        const double share = plot_.is_logarithmic
                                 ? std::log(std::max(y, up_.low) / up_.low) / std::log(up_.high / up_.low)
                                 : up_.share(y);
        return high_.y - static_cast<float>(std::clamp(share, -4.0, 4.0)) * height();
    }
    ImU32 faint() const { return ImGui::GetColorU32(ImGuiCol_Border); }

    void draw_label(const std::string& text, ImVec2 at, float left_share, float up_share) const {
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        list_->AddText({std::round(at.x - left_share * size.x), std::round(at.y - up_share * size.y)},
                       ImGui::GetColorU32(style_.muted), text.c_str());
    }

    // Names of the traces in their colours, if there are at least two.
    void draw_legend() const {
        if (std::ranges::count_if(plot_.traces, [](const PlotTrace& trace) { return *trace.name != '\0'; }) < 2) return;
        float right = high_.x - style_.px(6);
        for (const PlotTrace& trace : plot_.traces) {
            right -= ImGui::CalcTextSize(trace.name).x;
            list_->AddText({std::round(right), low_.y + style_.px(3)}, ImGui::GetColorU32(trace.colour), trace.name);
            right -= style_.px(8);
        }
    }

    void draw_titles() const {
        const auto with_unit = [](const PlotAxis& axis) {
            return *axis.unit == '\0' ? std::string(axis.title) : fmt::format("{} [{}]", axis.title, axis.unit);
        };
        const std::string axes = with_unit(plot_.up) + " over " + with_unit(plot_.across);
        list_->AddText(style_.strong, style_.strong->FontSize, heading_, ImGui::GetColorU32(ImGuiCol_Text),
                       plot_.title);
        const float title_width = style_.strong->CalcTextSizeA(style_.strong->FontSize, 1e9f, 0, plot_.title).x;
        ImGui::PushClipRect(heading_, {high_.x, low_.y}, true);
        draw_label(axes, {heading_.x + title_width + style_.px(8), heading_.y + style_.px(1)}, 0, 0);
        ImGui::PopClipRect();
    }

    std::vector<ImVec2> on_screen(const PlotCurve& curve) const {
        std::vector<ImVec2> places;
        for (const PlotPoint& point : points_of(curve, across_, static_cast<double>(width()))) {
            places.push_back({low_.x + static_cast<float>(point.column), y_of(point.value)});
        }
        return places;
    }

    void draw_trace(const PlotTrace& trace) const {
        const std::vector<ImVec2> places = on_screen(trace.curve);
        list_->AddPolyline(places.data(), static_cast<int>(places.size()), ImGui::GetColorU32(trace.colour), 0,
                           style_.px(1.25f));
    }

    void draw_band(const PlotBand& band) const {
        const std::vector<PlotSpan> spans = spans_between(band.low, band.high, across_, static_cast<double>(width()));
        const ImU32 colour = ImGui::GetColorU32(band.colour);
        for (std::size_t i = 0; i < spans.size(); ++i) {
            const float left = low_.x + static_cast<float>(spans[i].column);
            const float right = i + 1 < spans.size() ? low_.x + static_cast<float>(spans[i + 1].column) : left + 1;
            list_->AddRectFilled({left, y_of(spans[i].high)}, {right, y_of(spans[i].low) + 1}, colour);
        }
    }

    void draw_level(const PlotLevel& level) const {
        const ImU32 colour = ImGui::GetColorU32(level.colour);
        if (level.is_upright) {
            const float x = x_of(level.value);
            list_->AddLine({x, low_.y}, {x, high_.y}, colour);
            list_->AddText({x + style_.px(4), low_.y + style_.px(2)}, colour, level.name);
        } else {
            const float y = y_of(level.value);
            list_->AddLine({low_.x, y}, {high_.x, y}, colour);
            list_->AddText({low_.x + style_.px(5), y + style_.px(1)}, colour, level.name);
        }
    }

    const Style& style_;
    const Plot& plot_;
    ImDrawList* list_;
    PlotRange across_, up_;
    ImVec2 heading_, low_, high_;
};

// The wheel zooms at the pointer, a drag pans, a double click restores the complete range.
void take_input(const Plot& plot, const PlotArea& area, PlotZoom& zoom) {
    const ImGuiIO& io = ImGui::GetIO();
    const auto width = static_cast<double>(area.width());
    if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
        const double share = std::clamp(static_cast<double>(io.MousePos.x - area.low().x) / width, 0.0, 1.0);
        zoom.across =
            zoomed(area.across(), std::pow(0.8, static_cast<double>(io.MouseWheel)), share, plot.whole_across);
    }
    if (ImGui::IsItemActive() && io.MouseDelta.x != 0) {
        const double by = -static_cast<double>(io.MouseDelta.x) / width * (area.across().high - area.across().low);
        zoom.across = moved(area.across(), by, plot.whole_across);
    }
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) zoom.across.reset();
}

}  // namespace

void draw_plot(const PanelContext& context, const Plot& plot, PlotZoom& zoom, ImVec2 size) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (zoom.across) zoom.across = moved(*zoom.across, 0, plot.whole_across);  // the complete range may have changed
    const PlotArea area(context, plot, zoom, at, size);
    ImGui::SetCursorScreenPos(area.low());
    ImGui::InvisibleButton(plot.title, {area.width(), area.height()});
    const bool is_hovered = ImGui::IsItemHovered();
    note_place(context, std::string("plot.") + plot.title);
    take_input(plot, area, zoom);
    area.draw_frame();
    area.draw_curves();
    const auto has_values = [](const PlotTrace& trace) { return !trace.curve.values.empty(); };
    if (std::ranges::none_of(plot.traces, has_values))
        text_if_empty(context, std::string("plot.") + plot.title, plot.if_empty, area.low(),
                      {area.low().x + area.width(), area.low().y + area.height()});
    if (is_hovered && !ImGui::IsMouseDown(0)) area.draw_read_out(ImGui::GetIO().MousePos.x);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(size);
}

// ---- Plot geometry

namespace {

// Points within one pixel column, reduced to their minimum and maximum in the original order.
class Column {
  public:
    void add(const PlotPoint& point) {
        if (!min_ || point.value < min_->value) min_ = point;
        if (!max_ || point.value > max_->value) max_ = point;
    }

    void add_to(std::vector<PlotPoint>& points) {
        if (!min_) return;
        const bool rises = min_->column <= max_->column;
        points.push_back(rises ? *min_ : *max_);
        if (min_->column != max_->column) points.push_back(rises ? *max_ : *min_);
        min_.reset();
        max_.reset();
    }

  private:
    std::optional<PlotPoint> min_, max_;
};

// Indices [from, to] of the points within a range, extended by one point on either side.
struct PointRange {
    std::int64_t from, to;

    PointRange(const PlotCurve& curve, const PlotRange& range) {
        const auto last = static_cast<double>(std::ssize(curve.values) - 1);
        const auto index_at = [&](double x) { return std::floor((x - curve.first) / curve.step); };
        from = static_cast<std::int64_t>(std::clamp(index_at(range.low), 0.0, last + 1));
        to = static_cast<std::int64_t>(std::clamp(index_at(range.high) + 1, -1.0, last));
    }
};

// Returns a step of 1, 2 or 5 times a power of ten that divides `span` into at most `about` parts.
double round_step(double span, std::int64_t about) {
    const double rough = span / static_cast<double>(std::max<std::int64_t>(1, about));
    const double decade = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * decade >= rough * (1 - 1e-9)) return factor * decade;
    }
    return 10 * decade;
}

}  // namespace

std::vector<PlotPoint> points_of(const PlotCurve& curve, const PlotRange& shown, double columns) {
    std::vector<PlotPoint> points;
    Column column;
    double number = 0;
    const auto [from, to] = PointRange(curve, shown);
    for (std::int64_t i = from; i <= to; ++i) {
        const auto value = static_cast<double>(curve.values[index(i)]);
        if (!std::isfinite(value)) continue;
        const double x = shown.share(curve.first + static_cast<double>(i) * curve.step) * columns;
        if (std::floor(x) != number) column.add_to(points);
        number = std::floor(x);
        column.add({x, value});
    }
    column.add_to(points);
    return points;
}

std::vector<PlotSpan> spans_between(const PlotCurve& low, const PlotCurve& high, const PlotRange& shown,
                                    double columns) {
    std::vector<PlotSpan> spans;
    const auto [from, to] = PointRange(low, shown);
    for (std::int64_t i = from; i <= to; ++i) {
        const double column = std::floor(shown.share(low.first + static_cast<double>(i) * low.step) * columns);
        const auto least = static_cast<double>(low.values[index(i)]);
        const auto greatest = static_cast<double>(high.values[index(i)]);
        if (spans.empty() || spans.back().column != column) spans.push_back({column, least, greatest});
        spans.back().low = std::min(spans.back().low, least);
        spans.back().high = std::max(spans.back().high, greatest);
    }
    return spans;
}

std::vector<double> ticks(const PlotRange& range, std::int64_t about) {
    std::vector<double> places;
    const double span = range.high - range.low;
    if (!(span > 0) || !std::isfinite(span)) return places;
    const double step = round_step(span, about);
    const double slack = 1e-9 * step;
    for (double n = std::ceil((range.low - slack) / step); n * step <= range.high + slack; ++n)
        places.push_back(n * step);
    return places;
}

std::string tick_text(double value, double step) {
    const double magnitude = std::max(std::abs(value), step);
    if (magnitude >= 1e6) return fmt::format("{:.3g}", value);
    const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 6);
    return fmt::format("{:.{}f}", std::abs(value) < step / 2 ? 0.0 : value, decimals);
}

PlotRange fitting_range(const std::vector<std::span<const float>>& curves) {
    std::optional<PlotRange> range;
    for (const std::span<const float>& curve : curves) {
        for (const float value : curve) {
            if (!std::isfinite(value)) continue;
            const auto y = static_cast<double>(value);
            range = range ? PlotRange{std::min(range->low, y), std::max(range->high, y)} : PlotRange{y, y};
        }
    }
    if (!range) return {};
    const double span = std::max(range->high - range->low, 1e-9 * std::max(1.0, std::abs(range->high)));
    const double step = round_step(span, 8);
    return {step * std::floor(range->low / step), step * (std::floor(range->high / step) + 1)};
}

PlotRange zoomed(const PlotRange& range, double factor, double around_share, const PlotRange& whole) {
    const double max_span = whole.high - whole.low, min_span = max_span / 1000;
    const double span = std::clamp((range.high - range.low) * factor, min_span, max_span);
    const double fixed = range.at(around_share);
    return moved({fixed - around_share * span, fixed + (1 - around_share) * span}, 0, whole);
}

PlotRange moved(const PlotRange& range, double by, const PlotRange& whole) {
    const double span = std::min(range.high - range.low, whole.high - whole.low);
    const double low = std::clamp(range.low + by, whole.low, whole.high - span);
    return {low, low + span};
}

// ---- Sparkline

// Displayed period and minimum interval of values.
constexpr double shown_s = 60;
constexpr double every_s = 0.5;

void RecentValues::add(double now_s, double value) {
    if (!values_.empty() && now_s < values_.back().time_s + every_s) return;
    values_.push_back({now_s, value});
    while (values_.front().time_s < now_s - shown_s) values_.pop_front();
}

double RecentValues::max() const {
    const auto found = std::ranges::max_element(values_, {}, &At::value);
    return found == values_.end() ? 0 : found->value;
}

// The vertical axis ends at the maximum of the last minute.
void sparkline(const PanelContext& context, const char* name, const RecentValues& recent, double now_s,
               const std::string& value, const char* unit) {
    const Style& style = context.style;
    const float left = ImGui::GetCursorPosX(), width = ImGui::GetContentRegionAvail().x;
    ImGui::TextColored(style.muted, "%s", name);
    ImGui::SameLine(left + style.px(88));
    const float curve_width = std::max(width - style.px(88 + 110), style.px(40));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{curve_width, ImGui::GetTextLineHeight()};
    ImGui::Dummy(size);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 line = ImGui::GetColorU32(style.accent);
    list->AddLine({at.x, at.y + size.y}, {at.x + size.x, at.y + size.y}, ImGui::GetColorU32(ImGuiCol_Border));
    const double max = std::max(recent.max(), 1e-12);
    for (const RecentValues::At& point : recent.values()) {
        const auto across = static_cast<float>(1 - (now_s - point.time_s) / shown_s);
        const auto up = static_cast<float>(0.9 * point.value / max);
        if (across >= 0) list->PathLineTo({at.x + size.x * across, at.y + size.y * (1 - up)});
    }
    list->PathStroke(line, 0, style.px(1.3f));
    ImGui::SameLine(left + style.px(88) + curve_width + style.px(8));
    ImGui::PushFont(style.numbers);
    ImGui::TextUnformatted(value.c_str());
    ImGui::PopFont();
    ImGui::SameLine(0, style.px(4));
    ImGui::TextColored(style.muted, "%s", unit);
}

}  // namespace echolux
