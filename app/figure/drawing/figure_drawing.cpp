#include "app/figure/drawing/figure_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/figure/drawing/figure_curves.h"
#include "render/annotations/annotations.h"

namespace echolux {
namespace {

constexpr double points_per_mm = 72 / 25.4;
constexpr double max_height = 1.4;  // total height of the pictures of all rows, in page widths
constexpr double line_feed = 1.2;   // em
constexpr Gray black = 0, white = 1;

// All lengths on the page scale with the text size.
struct Measure {
    explicit Measure(const FigureStyle& style)
        : text(style.text_pt), gap(0.45 * text), tick(0.35 * text), line(0.07 * text), bar(1.1 * text) {}

    double text, gap, tick, line, bar;
};

std::vector<Tick> ticks_of(double begin, double end, double length, double text, double per_tick) {
    const int most = std::max(3, static_cast<int>(length / (per_tick * text)));
    return ticks_between(std::min(begin, end), std::max(begin, end), most);
}

// Uses a minus sign, which is as wide as a plus, instead of a hyphen.
std::string with_minus(const std::string& text) {
    return text.starts_with('-') ? "\u2212" + text.substr(1) : text;
}

std::string title_of(const FigureAxis& axis) {
    return axis.unit.empty() ? axis.label : axis.label + " (" + axis.unit + ")";
}

double widest(const std::vector<Tick>& ticks, double size) {
    double most = 0;
    for (const Tick& tick : ticks) most = std::max(most, text_width(with_minus(tick.text), size));
    return most;
}

// Breaks a text between words into lines of at most `length`.
std::vector<std::string> lines_within(const std::string& text, double size, double length) {
    std::vector<std::string> lines;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (!lines.empty() && text_width(lines.back() + " " + word, size) <= length)
            lines.back() += " " + word;
        else
            lines.push_back(word);
    }
    return lines;
}

// Space that a panel needs around its picture.
struct Margins {
    double left = 0, right = 0, top = 0, bottom = 0;
};

class PanelPainter {
  public:
    PanelPainter(const FigurePanel& panel, const FigureStyle& style, std::string letter)
        : panel_(panel), style_(style), measure_(style), letter_(std::move(letter)) {}

    Margins margins(double height) const {
        const Measure& m = measure_;
        Margins margins{m.gap, m.gap, m.gap, m.gap};
        if (!above().empty()) margins.top += 1.5 * m.text;
        if (!panel_.curves.empty()) margins.right += 1.3 * m.text;  // half of the last number
        if (has_axes()) {
            margins.top = std::max(margins.top, 0.5 * m.text);  // half of the topmost number
            margins.bottom += m.tick + 2 * m.gap + 2 * m.text;
            margins.left += m.tick + 2 * m.gap + m.text + widest(ticks_down(height), m.text);
        }
        if (has_bar()) {
            const double lines = line_feed * m.text * static_cast<double>(unit_lines(height).size());
            margins.right += 4 * m.gap + m.bar + m.tick + widest(bar_ticks(height), m.text) + lines;
        }
        return margins;
    }

    void draw(Paper& paper, const Box& box) const {
        if (panel_.curves.empty())
            paper.picture(box, panel_.picture);
        else
            draw_curves(paper, panel_, box, measure_.text, ticks_across(box.width), ticks_down(box.height));
        if (has_axes()) {
            draw_frame(paper, box);
            draw_across(paper, box);
            draw_down(paper, box);
        }
        if (has_bar()) draw_bar(paper, box);
        if (style_.scale_bar && panel_.width_um > 0) draw_scale_bar(paper, box);
        if (!above().empty()) {
            paper.text({box.left, box.top - 2 * measure_.gap}, {0, 1}, 1.25 * measure_.text, above(), black);
        }
    }

  private:
    bool has_axes() const { return style_.axes && panel_.across && panel_.downwards; }
    std::string above() const {
        return letter_.empty() || panel_.heading.empty() ? letter_ + panel_.heading : letter_ + "   " + panel_.heading;
    }
    bool has_bar() const { return style_.colour_bar && panel_.bar; }

    std::vector<Tick> ticks_across(double width) const {
        return ticks_of(panel_.across->begin, panel_.across->end, width, measure_.text, 3.2);
    }

    std::vector<Tick> ticks_down(double height) const {
        return ticks_of(panel_.downwards->begin, panel_.downwards->end, height, measure_.text, 1.8);
    }

    std::vector<Tick> bar_ticks(double height) const {
        return ticks_of(panel_.bar->range.black, panel_.bar->range.white, height, measure_.text, 1.8);
    }

    std::vector<std::string> unit_lines(double height) const {
        return lines_within(panel_.bar->unit, measure_.text, height + measure_.text);
    }

    void draw_frame(Paper& paper, const Box& box) const {
        const double half = measure_.line / 2;
        for (const double y : {box.top, box.bottom()}) {
            paper.line({box.left - half, y}, {box.right() + half, y}, measure_.line, black);
        }
        for (const double x : {box.left, box.right()})
            paper.line({x, box.top}, {x, box.bottom()}, measure_.line, black);
    }

    void draw_across(Paper& paper, const Box& box) const {
        const Measure& m = measure_;
        const FigureAxis& axis = *panel_.across;
        for (const Tick& tick : ticks_across(box.width)) {
            const double x = box.left + box.width * (tick.value - axis.begin) / (axis.end - axis.begin);
            paper.line({x, box.bottom()}, {x, box.bottom() + m.tick}, m.line, black);
            paper.text({x, box.bottom() + m.tick + m.gap}, {0.5, 0}, m.text, with_minus(tick.text), black);
        }
        const double y = box.bottom() + m.tick + 2 * m.gap + m.text;
        paper.text({box.left + box.width / 2, y}, {0.5, 0}, m.text, title_of(axis), black);
    }

    void draw_down(Paper& paper, const Box& box) const {
        const Measure& m = measure_;
        const FigureAxis& axis = *panel_.downwards;
        const std::vector<Tick> ticks = ticks_down(box.height);
        for (const Tick& tick : ticks) {
            const double y = box.top + box.height * (tick.value - axis.begin) / (axis.end - axis.begin);
            paper.line({box.left - m.tick, y}, {box.left, y}, m.line, black);
            paper.text({box.left - m.tick - m.gap, y}, {1, 0.5}, m.text, with_minus(tick.text), black);
        }
        const double x = box.left - m.tick - 2 * m.gap - widest(ticks, m.text);
        paper.text({x, box.top + box.height / 2}, {0.5, 1}, m.text, title_of(axis), black, Turn::upwards);
    }

    Picture gradient() const {
        Picture column{1, 256, 1, {}, {}};
        for (int i = 0; i < 256; ++i) {
            const bool is_inverted = style_.gray == GrayWay::inverted;
            column.pixels.push_back(static_cast<std::uint8_t>(is_inverted ? i : 255 - i));
        }
        return column;
    }

    void draw_bar(Paper& paper, const Box& box) const {
        const Measure& m = measure_;
        const Box bar{box.right() + 3 * m.gap, box.top, m.bar, box.height};
        paper.picture(bar, panel_.bar->colours ? *panel_.bar->colours : gradient());
        draw_frame(paper, bar);
        const auto [low, high] = panel_.bar->range;
        const std::vector<Tick> ticks = bar_ticks(box.height);
        for (const Tick& tick : ticks) {
            const double y = bar.bottom() - bar.height * (tick.value - low) / (high - low);
            paper.line({bar.right(), y}, {bar.right() + m.tick, y}, m.line, black);
            paper.text({bar.right() + m.tick + m.gap, y}, {0, 0.5}, m.text, with_minus(tick.text), black);
        }
        double x = bar.right() + m.tick + 2 * m.gap + widest(ticks, m.text);
        for (const std::string& line : unit_lines(box.height)) {
            paper.text({x, box.top + box.height / 2}, {0.5, 0}, m.text, line, black, Turn::upwards);
            x += line_feed * m.text;
        }
    }

    // In the lower right corner, on an opaque plate, because pictures may be bright or dark.
    void draw_scale_bar(Paper& paper, const Box& box) const {
        constexpr double max_of_width = 0.3;
        const Measure& m = measure_;
        const double length_um = round_below(max_of_width * panel_.width_um);
        const std::string label = length_text(length_um, true);
        const double length = box.width * length_um / panel_.width_um;
        const double inner = std::max(length, text_width(label, m.text));
        const double thickness = 0.22 * m.text;
        const Box plate{box.right() - inner - 3 * m.gap, box.bottom() - m.text - thickness - 4 * m.gap,
                        inner + 2 * m.gap, m.text + thickness + 3 * m.gap};
        if (plate.width > 0.8 * box.width || plate.height > 0.5 * box.height) return;  // it would cover the picture
        const bool is_inverted = style_.gray == GrayWay::inverted;
        const double middle = plate.left + plate.width / 2;
        paper.fill(plate, is_inverted ? white : black);
        paper.fill({middle - length / 2, plate.bottom() - m.gap - thickness, length, thickness},
                   is_inverted ? black : white);
        paper.text({middle, plate.bottom() - 2 * m.gap - thickness}, {0.5, 1}, m.text, label,
                   is_inverted ? black : white);
    }

    const FigurePanel& panel_;
    const FigureStyle& style_;
    Measure measure_;
    std::string letter_;
};

// A row of panels whose pictures have the same height and together fill the page width.
struct PlacedRow {
    std::vector<PanelPainter> painters;
    std::vector<Margins> margins;
    double height = 0;           // of the pictures
    double top = 0, bottom = 0;  // largest margins in the row
    double width = 0;            // of the whole row
};

PlacedRow placed(const FigureRow& row, std::vector<PanelPainter> painters, double page_width, double highest) {
    PlacedRow place{std::move(painters), {}, 0, 0, 0, 0};
    double aspects = 0;
    for (const FigurePanel& panel : row) aspects += panel.aspect;
    place.height = page_width / aspects;
    for (int round = 0; round < 3; ++round) {  // margins depend on the axis numbers, which depend on the height
        place.margins.clear();
        double around = 0;
        for (const PanelPainter& painter : place.painters) {
            place.margins.push_back(painter.margins(place.height));
            around += place.margins.back().left + place.margins.back().right;
        }
        place.height = std::clamp((page_width - around) / aspects, 1.0, highest);
        place.width = around + place.height * aspects;
    }
    for (const Margins& margin : place.margins) {
        place.top = std::max(place.top, margin.top);
        place.bottom = std::max(place.bottom, margin.bottom);
    }
    return place;
}

// Returns the max height of rows such that all fit on the page. Space left by lower rows is used by higher ones.
double common_height(std::vector<double> heights, double page_height) {
    std::ranges::sort(heights);
    double left = page_height;
    for (std::size_t i = 0; i < heights.size(); ++i) {
        const double share = left / static_cast<double>(heights.size() - i);
        if (heights[i] > share) return share;
        left -= heights[i];
    }
    return page_height;
}

}  // namespace

void draw_figure(const std::filesystem::path& path, const std::vector<FigureRow>& rows, const FigureStyle& style,
                 const PictureTexts& texts) {
    const Measure measure(style);
    const double width = style.width_mm * points_per_mm;
    const double title = style.title.empty() ? 0 : 2.2 * measure.text;
    const auto count = std::ranges::count_if(rows, [](const FigureRow& row) { return !row.empty(); });
    const bool has_letters = style.letters && (count > 1 || (count == 1 && rows.front().size() > 1));
    const auto placed_below = [&](double highest) {
        std::vector<PlacedRow> all;
        char letter = 'a';
        for (const FigureRow& row : rows) {
            std::vector<PanelPainter> painters;
            for (const FigurePanel& panel : row) {
                painters.emplace_back(panel, style, has_letters ? std::string(1, letter++) : std::string());
            }
            all.push_back(placed(row, std::move(painters), width, highest));
        }
        return all;
    };
    std::vector<PlacedRow> places = placed_below(max_height * width);
    std::vector<double> heights;
    for (const PlacedRow& place : places) heights.push_back(place.height);
    places = placed_below(common_height(heights, max_height * width));
    double height = title;
    for (const PlacedRow& place : places) height += place.top + place.height + place.bottom;
    Paper paper(path, {width, height, style.dpi, texts, style.title.empty() ? path.stem().string() : style.title,
                       texts.contains("source") ? texts.at("source") : ""});
    if (!style.title.empty()) {
        paper.text({width / 2, measure.gap}, {0.5, 0}, 1.25 * measure.text, style.title, black);
    }
    double top = title;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const PlacedRow& place = places[r];
        double left = std::max(0.0, (width - place.width) / 2);
        for (std::size_t i = 0; i < rows[r].size(); ++i) {
            const Margins& margin = place.margins[i];
            const Box box{left + margin.left, top + place.top, place.height * rows[r][i].aspect, place.height};
            place.painters[i].draw(paper, box);
            left = box.right() + margin.right;
        }
        top += place.top + place.height + place.bottom;
    }
    paper.finish();
}

}  // namespace echolux
