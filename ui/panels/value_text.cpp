#include "ui/panels/value_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "app/viewer/view_source.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

// Keeps letters and digits, in lower case: "fs^2" becomes "fs2".
std::string plain(std::string_view text) {
    std::string letters;
    for (const char c : text) {
        const auto letter = static_cast<unsigned char>(c);
        if (std::isalnum(letter) != 0) letters += static_cast<char>(std::tolower(letter));
    }
    return letters;
}

// Returns the power of 1000 for `value`, at most `max_power`. Values that round to 1000 use the next power.
int thousands(double value, int max_power) {
    int power = 0;
    for (; value >= 999.5 && power < max_power; ++power) value /= 1000;
    return power;
}

std::string three_digits(double value) {
    return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

// Groups digits by thousands: "12345.67" becomes "12 345.67".
std::string grouped(std::string digits) {
    const std::size_t end = std::min(digits.find('.'), digits.size());
    const std::size_t begin = digits.starts_with('-') ? 1 : 0;
    for (std::size_t at = end; at > begin + 3;) {
        at -= 3;
        digits.insert(at, " ");
    }
    return digits;
}

// Words of keys that people spell differently.
constexpr std::array<std::array<std::string_view, 2>, 35> spelt_words{{{"a", "A"},
                                                                       {"a-scans", "A-scans"},
                                                                       {"adc", "ADC"},
                                                                       {"b", "B"},
                                                                       {"b-scans", "B-scans"},
                                                                       {"cdv", "CDV"},
                                                                       {"cpu", "CPU"},
                                                                       {"crf", "CRF"},
                                                                       {"csv", "CSV"},
                                                                       {"ct", "CT"},
                                                                       {"mr", "MR"},
                                                                       {"db", "dB"},
                                                                       {"doppler", "Doppler"},
                                                                       {"fov", "FOV"},
                                                                       {"fwhm", "FWHM"},
                                                                       {"gaussian", "Gaussian"},
                                                                       {"gdd", "GDD"},
                                                                       {"gpu", "GPU"},
                                                                       {"gpus", "GPUs"},
                                                                       {"hz", "Hz"},
                                                                       {"ilm", "ILM"},
                                                                       {"mida", "MIDA"},
                                                                       {"nudft", "NUDFT"},
                                                                       {"nufft", "NUFFT"},
                                                                       {"oct", "OCT"},
                                                                       {"octa", "OCTA"},
                                                                       {"omag", "OMAG"},
                                                                       {"ome", "OME"},
                                                                       {"psf", "PSF"},
                                                                       {"psnr", "PSNR"},
                                                                       {"rayleigh", "Rayleigh"},
                                                                       {"rpe", "RPE"},
                                                                       {"sd", "SD"},
                                                                       {"snr", "SNR"},
                                                                       {"tod", "TOD"}}};

// Symbols that stay small at the beginning of a title.
constexpr std::array<std::string_view, 5> small_words{"k", "dB", "x", "y", "z"};

std::string spelt(std::string_view word) {
    const auto* const found = std::ranges::find(spelt_words, word, [](const auto& one) { return one[0]; });
    return std::string(found != spelt_words.end() ? (*found)[1] : word);
}

}  // namespace

std::string label_of(const FieldText& field) {
    if (!field.label.empty()) return std::string(field.label);
    std::string label(field.name);
    const std::string unit = plain(field.unit);
    if (!unit.empty() && label.ends_with("_" + unit)) label.resize(label.size() - unit.size() - 1);
    return key_text(label);
}

std::string key_text(std::string_view key) {
    std::string text;
    std::string_view before;
    for (std::size_t begin = 0; begin <= key.size();) {
        const std::size_t end = std::min(key.find('_', begin), key.size());
        const std::string_view word = key.substr(begin, end - begin);
        const bool is_scan = (before == "a" || before == "b") && (word == "scan" || word == "scans");
        if (begin > 0) text += is_scan ? '-' : ' ';  // "A-scans"
        text += spelt(word);
        before = word;
        begin = end + 1;
    }
    return text;
}

std::string title_of(std::string_view key) {
    std::string text = key_text(key);
    const std::string_view first = std::string_view(text).substr(0, text.find(' '));
    const bool is_type = first.size() > 1 && first[1] >= '0' && first[1] <= '9';  // "u8"
    if (!is_type && std::ranges::find(small_words, first) == small_words.end() && !text.empty())
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

std::string choice_text(std::string_view choice) {
    constexpr std::array<std::array<std::string_view, 2>, 6> spelt_out{{{"mip", "Maximum (MIP)"},
                                                                        {"minip", "Minimum (MinIP)"},
                                                                        {"attenuated-mip", "Attenuated maximum"},
                                                                        {"depth-mip", "Depth-coded maximum"},
                                                                        {"defr", "Full range (DEFR)"},
                                                                        {"nlm", "Non-local means"}}};
    const auto* const found = std::ranges::find(spelt_out, choice, [](const auto& one) { return one[0]; });
    if (found != spelt_out.end()) return std::string((*found)[1]);
    std::string words(choice);
    std::ranges::replace(words, '-', '_');
    return title_of(words);
}

std::string unit_text(std::string_view unit) {
    constexpr std::array<std::array<std::string_view, 2>, 5> written{
        {{"um", "µm"}, {"us", "µs"}, {"deg", "°"}, {"fs^2", "fs²"}, {"fs^3", "fs³"}}};
    for (const auto& [spelt, text] : written) {
        if (unit == spelt) return std::string(text);
    }
    return std::string(unit);
}

std::string without_parentheses(std::string text) {
    for (std::size_t begin = text.find(" ("); begin != std::string::npos; begin = text.find(" (", begin)) {
        const std::size_t end = text.find(')', begin);
        if (end == std::string::npos) break;
        text.erase(begin, end + 1 - begin);
    }
    return text;
}

std::string number_text(double value, double resolution) {
    if (std::abs(value) >= 1e7) return fmt::format("{:.4g}", value);
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(resolution) - 1e-9)), 0, 9);
    std::string text = fmt::format("{:.{}f}", value, decimals);
    // Avoids "-0".
    return text.find_first_not_of("-0.") == std::string::npos && text.starts_with('-') ? text.substr(1) : text;
}

std::string short_number(double value) {
    if (std::isnan(value)) return "–";
    const double size = std::abs(value);
    if (size == 0) return "0";
    if (size >= 1e7 || size < 1e-4) return fmt::format("{:.3g}", value);
    const int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(size))), 0, 6);
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (decimals > 0) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.ends_with('.')) text.pop_back();
    }
    return grouped(text);
}

std::string signed_number(double value) {
    return (value < 0 ? "−" : "+") + short_number(std::abs(value));
}

std::optional<double> typed_number(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos) return std::nullopt;
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data() + first, text.data() + text.size(), number);
    const bool is_all = std::string_view(end, text.data() + text.size()).find_first_not_of(' ') == std::string::npos;
    if (problem != std::errc() || !is_all || !std::isfinite(number)) return std::nullopt;
    return number;
}

std::string bytes_text(double bytes) {
    constexpr std::array<const char*, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
    const int power = thousands(bytes, static_cast<int>(units.size()) - 1);
    const double value = bytes / std::pow(1000, power);
    return power == 0 ? fmt::format("{:.0f} B", value) : fmt::format("{} {}", three_digits(value), units[index(power)]);
}

std::string rate_text(double per_second) {
    constexpr std::array<const char*, 4> units{"", " k", " M", " G"};
    const int power = thousands(per_second, static_cast<int>(units.size()) - 1);
    return three_digits(per_second / std::pow(1000, power)) + units[index(power)];
}

std::string count_text(std::int64_t count) {
    return grouped(std::to_string(count));
}

std::string duration_text(double seconds) {
    const auto whole = static_cast<std::int64_t>(std::max(seconds, 0.0));
    if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string short_time_text(double seconds) {
    if (seconds < 0.9995e-3) return fmt::format("{:.0f} µs", 1e6 * seconds);
    if (seconds < 0.9995) return three_digits(1e3 * seconds) + " ms";
    return three_digits(seconds) + " s";
}

std::string suggested_name(const ViewSource& view_source, const std::string& ending) {
    const std::string name = view_source.name();
    std::string stem;
    for (const char c : name.substr(0, name.find_last_of('.'))) {
        const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
        if (is_plain || (!stem.empty() && stem.back() != '-')) stem += is_plain ? c : '-';
    }
    while (stem.ends_with('-')) stem.pop_back();
    return (stem.empty() ? "echolux" : stem) + ending;
}

std::string loading_text(const ViewSource& view_source) {
    const std::optional<Loading> loading = view_source.loading();
    if (!loading) return "";
    const std::string share = loading->share ? fmt::format(" ({:.0f} %)", 100 * *loading->share) : "";
    return fmt::format("loading step {}{}", loading->step + 1, share);
}

}  // namespace echolux
