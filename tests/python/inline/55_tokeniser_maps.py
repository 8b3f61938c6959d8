"""A toy byte-pair tokeniser: std::map, std::unordered_map, std::set, strings and vectors of pairs across the border; no tensors but the ids."""
CPP = r'''
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

std::vector<std::string> split_words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    std::string word;
    while (stream >> word) {
        std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
        words.push_back(word);
    }
    return words;
}

std::map<std::string, int> count_words(const std::string& text) {
    std::map<std::string, int> counts;
    for (const auto& w : split_words(text)) ++counts[w];
    return counts;
}

std::vector<std::pair<std::string, int>> most_common(const std::string& text, size_t n) {
    auto counts = count_words(text);
    std::vector<std::pair<std::string, int>> items(counts.begin(), counts.end());
    std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    if (items.size() > n) items.resize(n);
    return items;
}

torch::Tensor encode(const std::string& text, const std::unordered_map<std::string, int64_t>& vocab, int64_t unknown, int64_t length) {
    auto ids = torch::full({length}, unknown, torch::kInt64);
    auto a = ids.accessor<int64_t, 1>();
    int64_t i = 0;
    for (const auto& w : split_words(text)) {
        if (i == length) break;
        auto it = vocab.find(w);
        a[i++] = it != vocab.end() ? it->second : unknown;
    }
    return ids;
}

std::set<std::string> alphabet(const std::vector<std::string>& words) {
    std::set<std::string> letters;
    for (auto const& w : words)
        for (char c : w) letters.insert(std::string(1, c));
    return letters;
}

std::string join(const std::vector<std::string>& parts, const std::string& glue) {
    std::string out;
    for (size_t i = 0; i < parts.size(); ++i) out += (i ? glue : "") + parts[i];
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("split_words", &split_words);
    m.def("count_words", &count_words);
    m.def("most_common", &most_common, py::arg("text"), py::arg("n") = 3);
    m.def("encode", &encode, py::arg("text"), py::arg("vocab"), py::arg("unknown") = 0, py::arg("length") = 8);
    m.def("alphabet", &alphabet);
    m.def("join", &join, py::arg("parts"), py::arg("glue") = ", ");
    m.attr("__version__") = "1.2";
    m.attr("MAX_LENGTH") = 512;
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    text = "The cat and the dog\tand  THE bird"
    words = text.lower().split()
    assert m.split_words(text) == words
    assert m.count_words(text) == {w: words.count(w) for w in words}
    assert m.most_common(text, 2) == [("the", 3), ("and", 2)]
    vocab = {"the": 4, "dog": 7}
    t.close(m.encode(text, vocab), np.array([4, 0, 0, 4, 7, 0, 4, 0]))
    t.close(m.encode(text, vocab, unknown=-1, length=3), np.array([4, -1, -1]))
    assert m.alphabet(["abba", "cab"]) == {"a", "b", "c"}
    assert m.join(["x", "y"]) == "x, y" and m.join([], "-") == ""
    assert m.__version__ == "1.2" and m.MAX_LENGTH == 512
