// Settings of a scan or view by key: texts and numbers in, descriptions out.
#include <cmath>

#include "compute/plan/describe.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

namespace {

// The value as text without quotation marks.
std::string bare(const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : spelled(value);
}

double number_of(const BoundField& field) {
    const Value value = field.get();
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    throw Error(ErrorCode::bad_setting, "is not a number", field.key(), "use echolux_settings_get_text");
}

// Converts a number to the type of the field, which checks its range later.
Value meant(const BoundField& field, double number) {
    if (std::isnan(number)) throw Error(ErrorCode::bad_setting, "NaN is not a value", field.key());
    if (std::holds_alternative<bool>(field.default_value) && (number == 0 || number == 1)) return number != 0;
    return number;
}

}  // namespace

// The pointers in choice_pointers are taken last: `texts` must not grow after that.
void echolux_settings::finish() {
    for (const BoundField& field : settings.fields()) {
        Texts one{field.key(), std::string(field.unit), std::string(field.help), bare(field.default_value), {}, {}};
        for (const std::string_view choice : field.choices) one.choices.emplace_back(choice);
        texts.push_back(std::move(one));
    }
    for (Texts& one : texts) {
        for (const std::string& choice : one.choices) one.choice_pointers.push_back(choice.c_str());
    }
}

const BoundField& echolux_settings::field(const char* key) const {
    const std::string wanted = text_argument(key, "key");
    for (const BoundField& field : settings.fields()) {
        if (field.key() == wanted) return field;
    }
    throw Error(ErrorCode::bad_setting, "unknown key", wanted, "echolux_settings_describe lists all keys");
}

echolux_status echolux_settings_count(const echolux_settings* settings, size_t* count, echolux_error* error) {
    return guarded(error,
                   [&] { required(count, "count") = live_handle(settings, "settings").settings.fields().size(); });
}

echolux_status echolux_settings_describe(const echolux_settings* settings, size_t index, echolux_setting* setting,
                                         echolux_error* error) {
    return guarded(error, [&] {
        const echolux_settings& all = live_handle(settings, "settings");
        if (index >= all.texts.size()) throw BadArgument("there are fewer settings", "index");
        const BoundField& field = all.settings.fields()[index];
        const echolux_settings::Texts& texts = all.texts[index];
        echolux_setting one{};
        one.key = texts.key.c_str();
        one.unit = texts.unit.c_str();
        one.help = texts.help.c_str();
        one.default_text = texts.default_text.c_str();
        one.type = static_cast<std::int32_t>(field.default_value.index());  // same order as ECHOLUX_FLAG ...
        one.effect = static_cast<std::int32_t>(field.effect);
        one.low = field.low;
        one.high = field.high;
        one.choices = texts.choice_pointers.empty() ? nullptr : texts.choice_pointers.data();
        one.choice_count = texts.choice_pointers.size();
        give(setting, one, "setting");
    });
}

echolux_status echolux_settings_find(const echolux_settings* settings, const char* key, size_t* index,
                                     echolux_error* error) {
    return guarded(error, [&] {
        const echolux_settings& all = live_handle(settings, "settings");
        required(index, "index") = static_cast<size_t>(&all.field(key) - all.settings.fields().data());
    });
}

echolux_status echolux_settings_set_text(echolux_settings* settings, const char* key, const char* value,
                                         echolux_error* error) {
    return guarded(error, [&] {
        echolux_settings& all = live_handle(settings, "settings");
        const std::string name = text_argument(key, "key"), text = text_argument(value, "value");
        all.change(name, [&] { all.settings.set(name, text, "settings"); });
    });
}

echolux_status echolux_settings_get_text(const echolux_settings* settings, const char* key, char* buffer, size_t size,
                                         size_t* needed, echolux_error* error) {
    return guarded(error,
                   [&] { give_text(bare(live_handle(settings, "settings").field(key).get()), buffer, size, needed); });
}

echolux_status echolux_settings_set_number(echolux_settings* settings, const char* key, double value,
                                           echolux_error* error) {
    return guarded(error, [&] {
        echolux_settings& all = live_handle(settings, "settings");
        const BoundField& field = all.field(key);
        const std::vector<TomlEntry> entry{{field.key(), meant(field, value), "settings"}};
        all.change(field.key(), [&] { all.settings.take(entry); });
    });
}

echolux_status echolux_settings_get_number(const echolux_settings* settings, const char* key, double* value,
                                           echolux_error* error) {
    return guarded(error, [&] { required(value, "value") = number_of(live_handle(settings, "settings").field(key)); });
}

echolux_status echolux_settings_toml(const echolux_settings* settings, int all, char* buffer, size_t size,
                                     size_t* needed, echolux_error* error) {
    return guarded(error,
                   [&] { give_text(live_handle(settings, "settings").settings.toml(all != 0), buffer, size, needed); });
}
