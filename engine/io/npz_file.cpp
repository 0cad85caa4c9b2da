#include "engine/io/npz_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "compute/indexing.h"
#include "compute/types.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

constexpr std::int64_t max_bytes = std::int64_t{1} << 28;  // of one array
constexpr std::int64_t max_ratio = 1100;                   // of deflate

// Returns a little-endian number inside a text. The caller checks the length.
template <class T>
T number_at(const std::string& text, std::size_t place) {
    T value{};
    std::memcpy(&value, text.data() + place, sizeof(value));
    return value;
}

// Returns the text after "'key':" in the header of an array.
std::string value_of(const std::string& header, const std::string& key) {
    const std::size_t at = header.find("'" + key + "':");
    return at == std::string::npos ? "" : header.substr(at + key.size() + 3);
}

template <class T>
void append_numbers(const std::string& bytes, std::size_t begin, std::size_t count, std::vector<double>& numbers) {
    for (std::size_t i = 0; i < count; ++i)
        numbers.push_back(static_cast<double>(number_at<T>(bytes, begin + i * sizeof(T))));
}

// Appends texts of `length` characters of 4 bytes, padded with zeros.
void append_texts(const std::string& bytes, std::size_t begin, std::size_t count, std::size_t length,
                  std::vector<std::string>& texts) {
    for (std::size_t i = 0; i < count * length; ++i) {
        if (i % length == 0) texts.emplace_back();
        const auto code = number_at<std::uint32_t>(bytes, begin + 4 * i);
        if (code != 0) texts.back() += code < 128 ? static_cast<char>(code) : '?';
    }
}

}  // namespace

NpzFile::NpzFile(const std::filesystem::path& path) : file_(path) {
    read_directory();
}

// The end record is last, since NumPy writes no comment (APPNOTE.TXT of PKWARE, sections 4.3.12 and 4.3.16).
void NpzFile::read_directory() {
    constexpr std::int64_t end_bytes = 22, entry_bytes = 46;
    const std::int64_t end = file_.size() - end_bytes;
    if (end < 0 || file_.number<std::uint32_t>(end) != 0x06054b50) file_.fail("is not an .npz file");
    const auto count = file_.number<std::uint16_t>(end + 10);
    std::int64_t place = file_.number<std::uint32_t>(end + 16);
    for (int i = 0; i < count; ++i) {
        const std::string entry = file_.text(place, entry_bytes);
        if (number_at<std::uint32_t>(entry, 0) != 0x02014b50) file_.fail("has a damaged directory");
        const auto method = number_at<std::uint16_t>(entry, 10), name_bytes = number_at<std::uint16_t>(entry, 28);
        std::string name = file_.text(place + entry_bytes, name_bytes);
        if (name.ends_with(".npy")) name.resize(name.size() - 4);
        if (method != 0 && method != 8) file_.fail(name + " has an unknown compression", "save it again with NumPy");
        members_[name] = {number_at<std::uint32_t>(entry, 42), number_at<std::uint32_t>(entry, 20),
                          number_at<std::uint32_t>(entry, 24), method == 8};
        place += entry_bytes + name_bytes + number_at<std::uint16_t>(entry, 30) + number_at<std::uint16_t>(entry, 32);
    }
}

std::string NpzFile::bytes_of(const Member& member) {
    constexpr std::int64_t local_bytes = 30;
    const std::int64_t begin = member.place + local_bytes + file_.number<std::uint16_t>(member.place + 26) +
                               file_.number<std::uint16_t>(member.place + 28);
    if (member.size > max_bytes || member.size > max_ratio * (member.packed + 1)) file_.fail("has an impossible size");
    std::string packed = file_.text(begin, member.packed);
    if (!member.is_deflated) return packed;
    std::string out(index(member.size), '\0');
    z_stream stream{};
    inflateInit2(&stream, -MAX_WBITS);
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (result != Z_STREAM_END || stream.avail_out != 0) file_.fail("is damaged", "copy the file again");
    return out;
}

namespace {

// Type and shape of an array, from its header: "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 768), }".
struct ArrayForm {
    std::string type;  // "f4", "U10"
    std::vector<std::int64_t> shape;
    std::size_t count = 1;        // of all values
    std::size_t value_bytes = 0;  // 0: unknown type
    std::size_t characters = 0;   // of a text
    bool is_expected = false;     // C order, little endian, a possible shape
};

ArrayForm form_of(const std::string& header) {
    ArrayForm form;
    const std::string descr = value_of(header, "descr"), sizes = value_of(header, "shape");
    const std::size_t quote = descr.find('\''), end = descr.find('\'', quote + 1);
    if (end == std::string::npos || end < quote + 4) return form;
    form.type = descr.substr(quote + 2, end - quote - 2);
    form.is_expected = descr[quote + 1] != '>' && value_of(header, "fortran_order").find("False") <= 2;
    for (const std::string& size : words_of(std::string_view(sizes).substr(0, sizes.find(')')), "(, ")) {
        const std::int64_t length = std::atoll(size.c_str());
        form.is_expected = form.is_expected && length >= 0 && length <= max_bytes;
        form.shape.push_back(length);
        if (form.is_expected) form.count *= index(length);
        form.is_expected = form.is_expected && form.count <= index(max_bytes);
    }
    if (form.type[0] == 'U') form.characters = index(std::min<std::int64_t>(std::atoll(&form.type[1]), 1000));
    form.value_bytes = form.characters > 0 ? 4 * form.characters : index(std::max(form.type[1] - '0', 0));
    return form;
}

// Returns whether the type is supported.
bool append_values(const std::string& bytes, std::size_t begin, const ArrayForm& form, NpzArray& array) {
    if (form.characters > 0)
        append_texts(bytes, begin, form.count, form.characters, array.texts);
    else if (form.type == "u1" || form.type == "b1")
        append_numbers<std::uint8_t>(bytes, begin, form.count, array.numbers);
    else if (form.type == "u2")
        append_numbers<std::uint16_t>(bytes, begin, form.count, array.numbers);
    else if (form.type == "f4")
        append_numbers<float>(bytes, begin, form.count, array.numbers);
    else if (form.type == "f8")
        append_numbers<double>(bytes, begin, form.count, array.numbers);
    else if (form.type == "f2")
        for (std::size_t i = 0; i < form.count; ++i)
            array.numbers.push_back(double{value_of_half(number_at<std::uint16_t>(bytes, begin + 2 * i))});
    else
        return false;
    return true;
}

}  // namespace

NpzArray NpzFile::array(const std::string& name) {
    const auto member = members_.find(name);
    if (member == members_.end()) file_.fail("holds no array " + name);
    const std::string bytes = bytes_of(member->second);
    if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY\x01")) file_.fail(name + " is not an array of version 1");
    const std::size_t begin = 10 + std::size_t{number_at<std::uint16_t>(bytes, 8)};
    if (begin > bytes.size()) file_.fail(name + " ends within its header");
    const ArrayForm form = form_of(bytes.substr(10, begin - 10));
    if (!form.is_expected || bytes.size() - begin != form.count * form.value_bytes)
        file_.fail(name + " has an unexpected size or order", "save it in C order, little endian");
    NpzArray array{form.shape, {}, {}};
    if (!append_values(bytes, begin, form, array))
        file_.fail(name + " has values of type " + form.type, "save u1, u2, f2, f4, f8, bool or text");
    return array;
}

}  // namespace echolux
