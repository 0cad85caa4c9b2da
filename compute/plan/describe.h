// A single description per parameter: name, unit, range, default, help, and the cost of a change. Files, the command
// line, documentation and the window are generated from these descriptions; no parameter is declared twice.
//
// Each parameter struct S has a specialization of describe<S>(). The default of a field is its value in S{}.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// The part that must be rebuilt when the field changes.
enum class Effect {
    file,   // property of the recording: everything
    plan,   // buffers, transforms, volume geometry
    table,  // host tables only, swapped between blocks
    view    // the display only
};

using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

// Inclusive range of numbers.
struct ValueRange {
    double low = 0;
    double high = 1;

    bool operator==(const ValueRange&) const = default;
};

enum class PathKind { none, file, folder };

// Hints for user interface controls beyond type and range. They do not limit valid values.
struct ControlHint {
    std::optional<double> special_value;      // has a special meaning ...
    std::string_view special_text = "auto";   // ... and is displayed as this text
    std::optional<ValueRange> soft_range;     // practical part of a very wide range, for sliders
    std::vector<std::int64_t> only;           // permitted integers; empty for any
    bool only_odd = false;                    // integers must be odd
    bool only_positive = false;               // numbers must be above 0
    PathKind path = PathKind::none;           // whether a text is a path
    std::vector<std::string_view> endings{};  // file name extensions
};

// Another setting on which the effect of a field depends: it has one of `values`, or none of them if `excluded`. Values
// are spelled as in files without quotes: "defr", "true", "0". A setting without effect fulfils no condition.
struct Condition {
    std::string_view key;  // "recipe.method"
    std::vector<std::string_view> values;
    bool excluded = false;
    std::vector<Condition> otherwise{};  // any of these may hold instead
};

// Description of a field, independent of its struct.
struct FieldText {
    std::string_view name;
    std::string_view unit;  // empty for plain numbers and texts
    std::string_view help;
    Effect effect = Effect::plan;
    double low = 0;                         // inclusive range of numbers (per element for lists)
    double high = 0;                        //
    std::vector<std::string_view> choices;  // enumerator names, in order
    ControlHint control{};
    std::string_view group{};          // heading under which panels and help list the field, such as "Dispersion"
    std::string_view label{};          // its name in panels; empty: made from `name`
    std::string_view placeholder{};    // form of a text, for help: "A:B"
    std::vector<Condition> only_if{};  // the field has an effect only while all of these hold
    std::string_view words{};          // further words that people search for, such as "speckle denoise"
    bool is_undone = true;             // by Undo
    bool is_of_volume = false;         // belongs to one volume, so presets leave it out
    bool is_of_display = false;        // changes how traced light is displayed, not its paths
    bool is_repeated = false;          // a list of which a command takes parts in several options
};

template <class S>
struct Field : FieldText {
    std::function<Value(const S&)> get;
    std::function<void(S&, const Value&)> set;  // expects a checked value
    std::function<bool(const S&, const S&)> is_same;

    // Control hints, appended to a builder: number(...).special(0, "auto").soft(0, 50).
    Field special(double value, std::string_view text) && {
        this->control.special_value = value;
        this->control.special_text = text;
        return std::move(*this);
    }
    Field soft(double from, double to) && {
        this->control.soft_range = ValueRange{from, to};
        return std::move(*this);
    }
    Field only(std::vector<std::int64_t> numbers) && {
        this->control.only = std::move(numbers);
        return std::move(*this);
    }
    Field odd() && {
        this->control.only_odd = true;
        return std::move(*this);
    }
    Field positive() && {
        this->control.only_positive = true;
        return std::move(*this);
    }
    Field file(std::vector<std::string_view> endings = {}) && {
        this->control.path = PathKind::file;
        this->control.endings = std::move(endings);
        return std::move(*this);
    }
    Field folder() && {
        this->control.path = PathKind::folder;
        return std::move(*this);
    }

    // Facts for panels, help, search, undo and presets, appended in the same way.
    Field in(std::string_view heading) && {
        this->group = heading;
        return std::move(*this);
    }
    Field called(std::string_view shown) && {
        this->label = shown;
        return std::move(*this);
    }
    Field written_as(std::string_view form) && {
        this->placeholder = form;
        return std::move(*this);
    }
    Field only_while(std::string_view key, std::vector<std::string_view> values) && {
        this->only_if.push_back({key, std::move(values), false});
        return std::move(*this);
    }
    Field unless(std::string_view key, std::vector<std::string_view> values) && {
        this->only_if.push_back({key, std::move(values), true});
        return std::move(*this);
    }
    // Adds an alternative to the last condition.
    Field or_while(std::string_view key, std::vector<std::string_view> values) && {
        this->only_if.back().otherwise.push_back({key, std::move(values), false});
        return std::move(*this);
    }
    Field or_unless(std::string_view key, std::vector<std::string_view> values) && {
        this->only_if.back().otherwise.push_back({key, std::move(values), true});
        return std::move(*this);
    }
    Field found_by(std::string_view searched) && {
        this->words = searched;
        return std::move(*this);
    }
    Field never_undone() && {
        this->is_undone = false;
        return std::move(*this);
    }
    Field repeated() && {
        this->is_repeated = true;
        return std::move(*this);
    }
    Field of_volume() && {
        this->is_of_volume = true;
        return std::move(*this);
    }
    Field of_display() && {
        this->is_of_display = true;
        return std::move(*this);
    }
};

// Returns `value` converted to the type of `like` and checked against range and choices. Conversions: a real number
// without fraction to an integer, an integer to a real, a single number to a list. Throws Error{bad_setting} naming
// `where`.
Value checked(const FieldText& field, const Value& like, const Value& value, std::string_view where);

// Parses `text` as a value of the type of `like` and checks it. Throws Error{bad_setting} naming `where`.
Value parsed(const FieldText& field, const Value& like, std::string_view text, std::string_view where);

// Returns a value in TOML syntax: strings quoted, lists in brackets.
std::string spelled(const Value& value);

// Returns the candidate closest to the misspelt `name`, or "" if none is close.
std::string nearest_name(std::string_view name, std::span<const std::string_view> candidates);

// Checks all fields of `object`. Throws Error{bad_setting} for the first one outside its range.
template <class S>
void check(const S& object, std::string_view section) {
    for (const Field<S>& field : describe<S>()) {
        const Value value = field.get(object);
        checked(field, value, value, std::string(section) + "." + std::string(field.name));
    }
}

// Returns the value of the field `name`, which must exist. Enumerators are returned by name.
template <class S>
Value value_of(const S& object, std::string_view name) {
    for (const Field<S>& field : describe<S>()) {
        if (field.name == name) return field.get(object);
    }
    return {};
}

// Compares all fields of two objects.
template <class S>
bool has_same_settings(const S& a, const S& b) {
    return std::ranges::all_of(describe<S>(), [&](const Field<S>& field) { return field.is_same(a, b); });
}

// Appends the fields of base class Part as fields of S, for structs composed of several parts.
template <class S, class Part>
void add_part(std::vector<Field<S>>& fields) {
    for (const Field<Part>& field : describe<Part>()) fields.push_back({field, field.get, field.set, field.is_same});
}

// All fields of a struct. Those that state no group are in that of the field before them.
template <class S>
class Fields {
  public:
    Fields(std::initializer_list<Field<S>> fields) : fields_(fields) {
        for (std::size_t i = 1; i < fields_.size(); ++i) {
            if (fields_[i].group.empty()) fields_[i].group = fields_[i - 1].group;
        }
    }

    // Adds a condition to every field, before its own ones, or an alternative to that condition.
    Fields only_while(std::string_view key, const std::vector<std::string_view>& values) && {
        for (Field<S>& field : fields_) field.only_if.insert(field.only_if.begin(), Condition{key, values});
        return std::move(*this);
    }
    Fields or_while(std::string_view key, const std::vector<std::string_view>& values) && {
        for (Field<S>& field : fields_) field.only_if.front().otherwise.push_back({key, values});
        return std::move(*this);
    }
    const std::vector<Field<S>>& list() const { return fields_; }

  private:
    std::vector<Field<S>> fields_;
};

// ---- builders -------------------------------------------------------------------------------------------------------

template <class S, class T>
Field<S> plain_field(FieldText text, T S::*member) {
    Field<S> field{std::move(text), {}, {}, {}};
    field.get = [member](const S& s) { return Value(s.*member); };
    field.set = [member](S& s, const Value& value) { s.*member = std::get<T>(value); };
    field.is_same = [member](const S& a, const S& b) { return a.*member == b.*member; };
    return field;
}

template <class S>
Field<S> flag(std::string_view name, bool S::*member, Effect effect, std::string_view help) {
    return plain_field<S>({name, "", help, effect, 0, 0, {}}, member);
}

template <class S>
Field<S> text(std::string_view name, std::string S::*member, Effect effect, std::string_view help) {
    return plain_field<S>({name, "", help, effect, 0, 0, {}}, member);
}

template <class S>
Field<S> integer(std::string_view name, std::int64_t S::*member, std::int64_t low, std::int64_t high,
                 std::string_view unit, Effect effect, std::string_view help) {
    return plain_field<S>({name, unit, help, effect, static_cast<double>(low), static_cast<double>(high), {}}, member);
}

template <class S>
Field<S> number(std::string_view name, double S::*member, double low, double high, std::string_view unit, Effect effect,
                std::string_view help) {
    return plain_field<S>({name, unit, help, effect, low, high, {}}, member);
}

template <class S>
Field<S> numbers(std::string_view name, std::vector<double> S::*member, double low, double high, std::string_view unit,
                 Effect effect, std::string_view help) {
    return plain_field<S>({name, unit, help, effect, low, high, {}}, member);
}

// `names` lists the enumerators in order. Their values must count from zero.
template <class S, class E>
Field<S> choice(std::string_view name, E S::*member, std::vector<std::string_view> names, Effect effect,
                std::string_view help) {
    Field<S> field{{name, "", help, effect, 0, 0, std::move(names)}, {}, {}, {}};
    field.get = [member, list = field.choices](const S& s) {
        return Value(std::string(list.at(static_cast<std::size_t>(s.*member))));
    };
    field.set = [member, list = field.choices](S& s, const Value& value) {
        const std::string& wanted = std::get<std::string>(value);
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] == wanted) s.*member = static_cast<E>(i);
        }
    };
    field.is_same = [member](const S& a, const S& b) { return a.*member == b.*member; };
    return field;
}

}  // namespace echolux
