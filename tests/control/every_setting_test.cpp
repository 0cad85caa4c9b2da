// Every setting of `info --settings`, made from their descriptions: set by a request and read back; out of its range,
// or of another type, it is refused with its key and what is right.
#include <cmath>

#include "app/jobs/settings_table.h"
#include "controlled_test.h"
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

    // In `where` the key, in `what` or `remedy` what would be right.
    void expect_refused(const std::string& key, const Json& value) {
        const Json before = get(key), answer = set(key, value);
        ASSERT_TRUE(answer.contains("error")) << key << " = " << value << " is taken: " << answer;
        const Json data = answer["error"]["data"];
        EXPECT_NE(data["where"].get<std::string>().find(key), std::string::npos) << answer;
        EXPECT_NE((data["what"].get<std::string>() + data["remedy"].get<std::string>()).find_first_of(" "),
                  std::string::npos)
            << answer;
        EXPECT_EQ(get(key), before) << key;
    }

  private:
    std::shared_ptr<Listener> client_ = std::make_shared<Listener>();
};

// Another value than the default that the description allows; nothing: what texts mean is known to their readers alone.
Json another(const BoundField& field) {
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
    return nullptr;
}

bool has_number(const BoundField& field) {
    return std::holds_alternative<std::int64_t>(field.default_value) ||
           std::holds_alternative<double>(field.default_value);
}

// What goes together with others alone.
const std::map<std::string, Json> needs{{"view.shadows", {{"view.lamp", "free"}}}};

TEST_F(EverySetting, IsSetAndReadBack) {
    std::size_t changed = 0;
    for (const ListedSetting& setting : all_settings()) {
        const std::string key = setting.field.key();
        const Json before = get(key), wanted = another(setting.field);
        const Json to_set = wanted.is_null() ? before : wanted;
        Json values{{key, to_set}};
        if (const auto with = needs.find(key); with != needs.end()) values.update(with->second);
        const Json answer = ask("set", {{"values", values}});
        EXPECT_TRUE(answer.contains("result")) << key << " = " << to_set << ": " << answer;
        if (!answer.contains("result")) continue;
        EXPECT_EQ(answer["result"]["values"][key], to_set) << key;
        EXPECT_EQ(get(key), to_set) << key;
        if (to_set != before) ++changed;
        for (const auto& [name, value] : values.items()) values[name] = nullptr;  // one of them may exclude another
        EXPECT_TRUE(ask("set", {{"values", values}}).contains("result")) << key;
    }
    EXPECT_GT(changed, all_settings().size() * 3 / 4);
}

TEST_F(EverySetting, IsRefusedOutOfItsRangeWithKeyAndRemedy) {
    for (const ListedSetting& setting : all_settings()) {
        const BoundField& field = setting.field;
        const std::string key = field.key();
        expect_refused(key, Json{{"an", "object"}});
        if (setting.has_range && has_number(field)) {
            if (std::isfinite(field.high) && field.high < 1e15) expect_refused(key, 2 * std::abs(field.high) + 1);
            if (std::isfinite(field.low) && field.low > -1e15) expect_refused(key, -2 * std::abs(field.low) - 1);
            expect_refused(key, "no number");
        }
        if (!field.choices.empty()) expect_refused(key, "no-such-choice");
        if (std::holds_alternative<bool>(field.default_value)) expect_refused(key, 17);
        if (std::holds_alternative<std::string>(field.default_value)) expect_refused(key, 1.5);
    }
}

TEST_F(EverySetting, IsDescribedAsTheListHasIt) {
    const Json told = ask("describe", {{"what", "settings"}})["result"]["settings"];
    const std::vector<ListedSetting> all = all_settings();
    ASSERT_EQ(told.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(told[i]["key"], all[i].field.key());
        const nlohmann::ordered_json listed = object_of(all[i]);
        for (const auto& [name, value] : listed.items()) {
            EXPECT_EQ(Json(told[i][name]), Json(value)) << all[i].field.key() << ", " << name;
        }
        for (const char* name : {"value", "type", "holds"}) EXPECT_TRUE(told[i].contains(name)) << name;
    }
}

}  // namespace
}  // namespace echolux::test
