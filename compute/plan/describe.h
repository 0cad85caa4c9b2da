// One description for each parameter: name, unit, range, default, help and what a change of it costs. Files, command
// line, documentation and (later) the window are all made from these descriptions; nothing declares a parameter twice.
//
// Beside each parameter struct S stands one specialisation of describe<S>(). The default of a field is its value in
// S{}.
#pragma once

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

namespace echolux {

// What has to be redone when the field changes.
enum class Effect {
    file,   // a fact of the recording: everything
    plan,   // buffers, transforms, volume geometry
    table,  // host tables only: swapped between blocks
    view    // the picture only
};

using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

// Of numbers, both ends included.
struct ValueRange {
    double low = 0;
    double high = 1;

    bool operator==(const ValueRange&) const = default;
};

enum class PathKind { none, file, folder };

// What a control offers beyond type and range. Nothing of it limits what may be set.
struct ControlHint {
    std::optional<double> special_value;      // stands for something else ...
    std::string_view special_text = "auto";   // ... which reads like this
    std::optional<ValueRange> soft_range;     // the part of a very wide range that people drag through
    std::vector<std::int64_t> only;           // whole numbers to choose from; empty: any
    PathKind path = PathKind::none;           // what a text names
    std::vector<std::string_view> endings{};  // of such files
};

// What can be said of a field without knowing its struct.
struct FieldText {
    std::string_view name;
    std::string_view unit;  // "" : a bare number or a text
    std::string_view help;
    Effect effect = Effect::plan;
    double low = 0;                         // inclusive range of numbers (of every element for lists)
    double high = 0;                        //
    std::vector<std::string_view> choices;  // the names of an enumeration, in its order
    ControlHint control{};
};

template <class S>
struct Field : FieldText {
    std::function<Value(const S&)> get;
    std::function<void(S&, const Value&)> set;  // of a checked value

    // What controls offer, said behind a builder: number(...).special(0, "auto").soft(0, 50).
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
    Field file(std::vector<std::string_view> endings = {}) && {
        this->control.path = PathKind::file;
        this->control.endings = std::move(endings);
        return std::move(*this);
    }
    Field folder() && {
        this->control.path = PathKind::folder;
        return std::move(*this);
    }
};

template <class S>
const std::vector<Field<S>>& describe();

// The value converted to the type of `like` (a whole real number becomes an integer, an integer a real, a single number
// a list) and checked against range and choices. Throws Error{bad_setting} naming `where`.
Value checked(const FieldText& field, const Value& like, const Value& value, std::string_view where);

// The value that `text` spells for a field whose values look like `like`. Throws Error{bad_setting} naming `where`.
Value parsed(const FieldText& field, const Value& like, std::string_view text, std::string_view where);

// As it would stand in a TOML file: strings quoted, lists in brackets.
std::string spelled(const Value& value);

// The candidate that the misspelt `name` most likely meant, or "" when none is near.
std::string nearest_name(std::string_view name, std::span<const std::string_view> candidates);

// Throws Error{bad_setting} for the first field of `object` that is outside its range.
template <class S>
void check(const S& object, std::string_view section) {
    for (const Field<S>& field : describe<S>()) {
        const Value value = field.get(object);
        checked(field, value, value, std::string(section) + "." + std::string(field.name));
    }
}

// The value of the field called `name`, e.g. the spelling of an enumerator. `name` must exist.
template <class S>
Value value_of(const S& object, std::string_view name) {
    for (const Field<S>& field : describe<S>()) {
        if (field.name == name) return field.get(object);
    }
    return {};
}

// The fields of a base of S, as fields of S: a struct that is the sum of its parts describes itself part by part.
template <class S, class Part>
void add_part(std::vector<Field<S>>& fields) {
    for (const Field<Part>& field : describe<Part>()) fields.push_back({field, field.get, field.set});
}

// ---- builders -------------------------------------------------------------------------------------------------------

template <class S, class T>
Field<S> plain_field(FieldText text, T S::*member) {
    Field<S> field{std::move(text), {}, {}};
    field.get = [member](const S& s) { return Value(s.*member); };
    field.set = [member](S& s, const Value& value) { s.*member = std::get<T>(value); };
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

// `names` in the order of the enumerators, which must count from zero.
template <class S, class E>
Field<S> choice(std::string_view name, E S::*member, std::initializer_list<std::string_view> names, Effect effect,
                std::string_view help) {
    Field<S> field{{name, "", help, effect, 0, 0, names}, {}, {}};
    field.get = [member, list = field.choices](const S& s) {
        return Value(std::string(list.at(static_cast<std::size_t>(s.*member))));
    };
    field.set = [member, list = field.choices](S& s, const Value& value) {
        const std::string& wanted = std::get<std::string>(value);
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] == wanted) s.*member = static_cast<E>(i);
        }
    };
    return field;
}

}  // namespace echolux
