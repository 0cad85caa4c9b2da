#include "ui/workspace/word_match.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "engine/io/lower_case.h"

namespace echolux {
namespace {

bool is_of_word(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || static_cast<unsigned char>(letter) >= 0x80;
}

// Splits a text into words in lower case, with British spelling of "colour", "gray" and "centre".
std::vector<std::string> words_in(std::string_view text) {
    std::vector<std::string> words;
    bool is_inside = false;
    for (const char letter : lower_case(std::string(text))) {
        if (!is_of_word(letter)) {
            is_inside = false;
            continue;
        }
        if (!is_inside) words.emplace_back();
        is_inside = true;
        words.back() += letter;
    }
    for (std::string& word : words) {
        if (word.starts_with("color")) word.insert(4, "u");
        if (word.starts_with("grey")) word[2] = 'a';
        if (word.starts_with("center")) word.replace(0, 6, "centre");
    }
    return words;
}

// Returns `whole` if a word equals the typed text, `part` if a word begins with it, else 0.
int begun(const std::string& typed, const std::vector<std::string>& words, int whole, int part) {
    int points = 0;
    for (const std::string& word : words) {
        if (word == typed) return whole;
        if (word.starts_with(typed)) points = part;
    }
    return points;
}

// True if the letters are initials of the words in order: "pp" for "Play or pause".
bool are_initials(const std::string& typed, const std::vector<std::string>& words) {
    std::size_t at = 0;
    for (const std::string& word : words) {
        if (at < typed.size() && word.front() == typed[at]) ++at;
    }
    return typed.size() > 1 && at == typed.size();
}

// Matches within words need at least three letters.
int inside(const std::string& typed, const std::vector<std::string>& words) {
    constexpr std::size_t enough = 3;
    if (typed.size() < enough) return 0;
    return std::ranges::any_of(words, [&](const std::string& word) { return word.find(typed) != std::string::npos; })
               ? 4
               : 0;
}

struct Words {
    std::vector<std::string> title, id, group, others, help;
};

// The weights prefer titles and synonyms to ids, groups and help texts.
int points_of(const std::string& typed, const Words& words) {
    constexpr std::size_t enough_for_help = 4;
    int points = std::max({begun(typed, words.title, 20, 14), begun(typed, words.others, 18, 10),
                           begun(typed, words.id, 8, 6), begun(typed, words.group, 6, 5), inside(typed, words.title)});
    if (points == 0 && are_initials(typed, words.title)) points = 3;
    if (points == 0 && typed.size() >= enough_for_help) points = begun(typed, words.help, 2, 1);
    return points;
}

}  // namespace

int points_of(std::string_view typed, const Named& named) {
    const Words words{words_in(named.title), words_in(named.id), words_in(named.group), words_in(named.words),
                      words_in(named.help)};
    int points = 1;
    for (const std::string& one : words_in(typed)) {
        const int of_one = points_of(one, words);
        if (of_one == 0) return 0;
        points += of_one;
    }
    return points;
}

}  // namespace echolux
