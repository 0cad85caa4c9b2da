// Sets every setting listed by `info --settings` by request and reads it back. Values are derived from the setting's
// description; values out of range or of another type must be refused with the key and the valid range.
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>

#include "app/jobs/settings_table.h"
#include "compute/plan/describe.h"
#include "controlled_test.h"
#include "engine/io/png_file.h"
#include "listener.h"

namespace echolux::test {
namespace {

using Json = nlohmann::json;

class EverySetting : public ControlledTest {
  protected:
    Json ask(const std::string& method, const Json& params) {
        client_->heard.clear();
        control().handle(client_, Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump());
        control().update();
        return client_->heard.empty() ? Json::object() : client_->heard[0];
    }
    Json set(const std::string& key, const Json& value) { return ask("set", {{"values", {{key, value}}}}); }
    Json get(const std::string& key) { return ask("get", {{"keys", {key}}})["result"]["values"][key]; }

    // Expects an error with the key in `where` and the valid values in `what`.
    void expect_refused(const std::string& key, const Json& value, const std::string& right) {
        const Json before = get(key), answer = set(key, value);
        ASSERT_TRUE(answer.contains("error")) << key << " = " << value << " is taken: " << answer;
        const Json data = answer["error"]["data"];
        EXPECT_NE(data["where"].get<std::string>().find(key), std::string::npos) << answer;
        EXPECT_NE(data["what"].get<std::string>().find(right), std::string::npos) << answer;
        EXPECT_EQ(get(key), before) << key;
    }

  private:
    std::shared_ptr<Listener> client_ = std::make_shared<Listener>();
};

// Lengths of lists without a default, unless four: two points, three points, a colour.
const std::map<std::string, std::size_t> lengths{{"view.distances", 6},
                                                 {"view.angles", 9},
                                                 {"view.flow_arrows", 6},
                                                 {"view.flow_streaks", 5},
                                                 {"view.streak_pulse", 2},
                                                 {"view.text_colour", 3},
                                                 {"view.background_lower_colour", 3}};

// Lists that must be consistent in themselves: a light.
const std::map<std::string, Json> lists{{"view.area_lights", {40.0, 35.0, 3.0, 1.2, 0.0, 1.0, 0.96, 0.9}}};

// Returns a list as long as the default. Each number is halfway to the farther end of its range.
Json another_list(const BoundField& field, const std::vector<double>& list) {
    if (const auto known = lists.find(field.key()); known != lists.end()) return known->second;
    std::vector<double> other = list;
    for (double& number : other) {
        const double high = std::min(field.high, std::abs(number) + 1);
        number =
            number < 0.5 * (field.low + high) || field.high > high ? 0.5 * (number + high) : 0.5 * (number + field.low);
    }
    if (other.empty()) {
        const auto length = lengths.find(field.key());
        for (std::size_t i = 0; i < (length == lengths.end() ? 4 : length->second); ++i)
            other.push_back(0.1 + 0.05 * static_cast<double>(i));
    }
    return other;
}

// Returns a valid value other than the default. Files are in `folder`.
Json another(const BoundField& field, const std::filesystem::path& folder) {
    const Value& value = field.default_value;
    if (const auto* flag = std::get_if<bool>(&value)) return !*flag;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        if (!field.control.only.empty()) {
            return field.control.only.back() != *whole ? field.control.only.back() : field.control.only.front();
        }
        return static_cast<double>(*whole) < field.high ? *whole + 1 : *whole - 1;
    }
    if (const auto* number = std::get_if<double>(&value)) {
        const double high = std::min(field.high, std::isfinite(*number) ? std::abs(*number) * 2 + 1 : 1);
        return *number < high ? (*number + high) / 2 : (*number + field.low) / 2;
    }
    if (const auto* text = std::get_if<std::string>(&value); text != nullptr && !field.choices.empty()) {
        return std::string(field.choices.front() == *text ? field.choices.back() : field.choices.front());
    }
    if (const auto* list = std::get_if<std::vector<double>>(&value)) return another_list(field, *list);
    if (field.control.path == PathKind::folder) return (folder / "other").string();
    if (field.control.path == PathKind::none) return "another text";
    const bool is_volume = field.key().starts_with("view.channel_");
    const std::string ending(is_volume                       ? ".nrrd"
                             : field.control.endings.empty() ? ".csv"
                                                             : field.control.endings.front());
    return (folder / ("file" + ending)).string();
}

// Formats a limit as messages do: integers below 1e7 with all digits.
std::string limit_text(const BoundField& field, double number) {
    const bool is_integer = std::holds_alternative<std::int64_t>(field.default_value);
    if (is_integer && std::abs(number) < 1e7) return std::to_string(static_cast<std::int64_t>(number));
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

bool has_number(const BoundField& field) {
    return std::holds_alternative<std::int64_t>(field.default_value) ||
           std::holds_alternative<double>(field.default_value);
}

// Settings that are only valid together with others.
const std::map<std::string, Json> needs{{"view.shadows", {{"view.lamp", "free"}}}};

// These need a volume for the surface search, which this test does not have. The workspace tests set them.
const std::set<std::string> of_a_volume{"view.top_from", "view.bottom_from", "view.flatten"};

TEST_F(EverySetting, IsSetAndReadBack) {
    std::filesystem::create_directory(folder() / "other");
    std::ofstream(folder() / "file.csv") << "0,1\n1,2\n";
    write_png(folder() / "file.png", {1, 1, 3, {9, 9, 9}, {}});
    std::ofstream(folder() / "file.nrrd") << "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 1 1\nencoding: raw\n\n12";
    std::ofstream(folder() / "file.toml")
        << "[transfer]\nversion = 1\ncolours = [0, 0, 0, 0, 1, 1, 1, 1]\nextinctions = [0, 0, 1, 220]\n";
    for (const ListedSetting& setting : all_settings()) {
        const std::string key = setting.field.key();
        if (of_a_volume.contains(key)) continue;
        const Json before = get(key), to_set = another(setting.field, folder().path());
        EXPECT_NE(to_set, before) << key;
        Json values{{key, to_set}};
        if (const auto with = needs.find(key); with != needs.end()) values.update(with->second);
        const Json answer = ask("set", {{"values", values}});
        EXPECT_TRUE(answer.contains("result")) << key << " = " << to_set << ": " << answer;
        if (!answer.contains("result")) continue;
        EXPECT_EQ(answer["result"]["values"][key], to_set) << key;
        EXPECT_EQ(get(key), to_set) << key;
        for (const auto& [name, value] : values.items()) values[name] = nullptr;  // some of them exclude each other
        EXPECT_TRUE(ask("set", {{"values", values}}).contains("result")) << key;
    }
}

TEST_F(EverySetting, RejectsOutOfRangeValuesWithKeyAndRemedy) {
    for (const ListedSetting& setting : all_settings()) {
        const BoundField& field = setting.field;
        const std::string key = field.key();
        expect_refused(key, Json{{"an", "object"}}, "expected one value");
        if (setting.has_range && has_number(field)) {
            const std::string range = "from " + limit_text(field, field.low) + " to " + limit_text(field, field.high);
            if (std::isfinite(field.high) && field.high < 1e15)
                expect_refused(key, 2 * std::abs(field.high) + 1, range);
            if (std::isfinite(field.low) && field.low > -1e15) expect_refused(key, -2 * std::abs(field.low) - 1, range);
            expect_refused(key, "no number", "number");
        }
        if (!field.choices.empty()) expect_refused(key, "no-such-choice", std::string(field.choices.back()));
        if (std::holds_alternative<bool>(field.default_value)) expect_refused(key, 17, "true or false");
        if (std::holds_alternative<std::string>(field.default_value)) expect_refused(key, 1.5, "expected");
    }
}

TEST_F(EverySetting, IsDescribedLikeList) {
    const Json described = ask("describe", {{"what", "settings"}})["result"]["settings"];
    const std::vector<ListedSetting> all = all_settings();
    ASSERT_EQ(described.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(described[i]["key"], all[i].field.key());
        const nlohmann::ordered_json listed = object_of(all[i]);
        for (const auto& [name, value] : listed.items()) {
            EXPECT_EQ(Json(described[i][name]), Json(value)) << all[i].field.key() << ", " << name;
        }
        for (const char* name : {"value", "type", "holds"}) EXPECT_TRUE(described[i].contains(name)) << name;
    }
}

}  // namespace
}  // namespace echolux::test
