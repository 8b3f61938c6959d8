"""Host containers at work: an LRU cache over a list and a map of iterators, running medians by two heaps, a sliding maximum by a deque, a prime sieve."""
CPP = r'''
#include <torch/extension.h>
#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <vector>

template <typename Key, typename Value>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  template <typename Make>
  const Value& get(const Key& key, Make&& make) {
    auto found = where_.find(key);
    if (found != where_.end()) {
      ++hits;
      items_.splice(items_.begin(), items_, found->second);
      return items_.front().second;
    }
    ++misses;
    if (items_.size() == capacity_) {
      where_.erase(items_.back().first);
      items_.pop_back();
    }
    items_.emplace_front(key, make(key));
    where_[key] = items_.begin();
    return items_.front().second;
  }

  std::vector<Key> keys() const {
    std::vector<Key> out;
    for (const auto& item : items_) out.push_back(item.first);
    return out;
  }

  int64_t hits = 0, misses = 0;

 private:
  size_t capacity_;
  std::list<std::pair<Key, Value>> items_;
  std::unordered_map<Key, typename std::list<std::pair<Key, Value>>::iterator> where_;
};

std::tuple<std::vector<double>, std::vector<int64_t>, int64_t, int64_t> cached_row_sums(const torch::Tensor& table, const std::vector<int64_t>& requests, size_t capacity) {
  TORCH_CHECK(capacity > 0, "a cache of nothing");
  LruCache<int64_t, double> cache(capacity);
  std::vector<double> out;
  for (const auto r : requests) out.push_back(cache.get(r, [&table](int64_t row) { return table[row].sum().item<double>(); }));
  return {out, cache.keys(), cache.hits, cache.misses};
}

torch::Tensor running_median(const torch::Tensor& x) {
  std::priority_queue<double> low;
  std::priority_queue<double, std::vector<double>, std::greater<>> high;
  auto out = torch::empty_like(x);
  const auto in = x.accessor<double, 1>();
  auto to = out.accessor<double, 1>();
  for (int64_t i = 0; i < in.size(0); ++i) {
    if (low.empty() || in[i] <= low.top()) low.push(in[i]);
    else high.push(in[i]);
    if (low.size() > high.size() + 1) { high.push(low.top()); low.pop(); }
    if (high.size() > low.size()) { low.push(high.top()); high.pop(); }
    to[i] = low.size() == high.size() ? (low.top() + high.top()) / 2 : low.top();
  }
  return out;
}

torch::Tensor sliding_max(torch::Tensor x, int64_t window) {
  TORCH_CHECK_VALUE(window > 0 && window <= x.numel(), "a window of ", window, " over ", x.numel(), " values");
  x = x.contiguous();
  auto out = torch::empty({x.numel() - window + 1}, x.options());
  AT_DISPATCH_ALL_TYPES(x.scalar_type(), "sliding_max", [&] {
    const auto* v = x.data_ptr<scalar_t>();
    std::deque<int64_t> candidates;  // falling values
    for (int64_t i = 0; i < x.numel(); ++i) {
      while (!candidates.empty() && v[candidates.back()] <= v[i]) candidates.pop_back();
      candidates.push_back(i);
      if (candidates.front() <= i - window) candidates.pop_front();
      if (i >= window - 1) out.data_ptr<scalar_t>()[i - window + 1] = v[candidates.front()];
    }
  });
  return out;
}

std::vector<int64_t> primes_below(int64_t n) {
  std::vector<bool> composite(std::max<int64_t>(n, 0), false);
  std::vector<int64_t> primes;
  for (int64_t i = 2; i < n; ++i) {
    if (composite[i]) continue;
    primes.push_back(i);
    for (int64_t j = i * i; j < n; j += i) composite[j] = true;
  }
  return primes;
}

std::vector<std::vector<std::string>> anagrams(const std::vector<std::string>& words) {
  std::map<std::string, std::vector<std::string>> groups;
  for (auto word : words) {
    auto key = word;
    std::sort(key.begin(), key.end());
    groups[key].push_back(std::move(word));
  }
  std::vector<std::vector<std::string>> out;
  for (auto it = groups.rbegin(); it != groups.rend(); ++it)
    if (it->second.size() > 1) out.push_back(it->second);
  return out;
}

torch::Tensor inverse_unique(const torch::Tensor& x) {
  std::unordered_map<int64_t, int64_t> seen;
  auto out = at::empty_like(x);
  std::transform(x.data_ptr<int64_t>(), x.data_ptr<int64_t>() + x.numel(), out.data_ptr<int64_t>(), [&](int64_t v) {
    return seen.insert({v, static_cast<int64_t>(seen.size())}).first->second;
  });
  return out;
}

std::vector<int64_t> intervals_at(const std::vector<std::pair<int64_t, int64_t>>& intervals, const std::vector<int64_t>& points) {
  std::multimap<int64_t, int> events;
  for (const auto& [first, last] : intervals) {
    events.insert({first, +1});
    events.emplace(last, -1);
  }
  std::map<int64_t, int64_t> depth_from;
  int64_t depth = 0;
  for (const auto& [where, change] : events) depth_from[where] = depth += change;
  std::vector<int64_t> out;
  for (auto p : points) {
    auto it = depth_from.upper_bound(p);
    out.push_back(it == depth_from.begin() ? 0 : std::prev(it)->second);
  }
  return out;
}
'''
CUDA = ""
FUNCTIONS = ["cached_row_sums", "running_median", "sliding_max", "primes_below", "anagrams", "inverse_unique", "intervals_at"]


def check(m, t):
    from collections import OrderedDict

    import numpy as np

    table = t.rng.standard_normal((23, 7))
    requests = t.rng.integers(0, 23, 200) * t.rng.integers(0, 2, 200)
    for capacity in (1, 5, 50):
        cache, hits = OrderedDict(), 0
        for r in requests.tolist():
            hits += r in cache
            cache[r] = True
            cache.move_to_end(r)
            if len(cache) > capacity:
                cache.popitem(last=False)
        sums, keys, h, misses = m.cached_row_sums(t(table), requests.tolist(), capacity)
        np.testing.assert_allclose(sums, table[requests].sum(1), rtol=1e-12, atol=1e-12)
        assert (keys, h, misses) == (list(cache)[::-1], hits, 200 - hits)
    x = np.round(t.rng.standard_normal(101), 1)
    t.close(m.running_median(t(x)), np.array([np.median(x[: i + 1]) for i in range(101)]), rtol=1e-15)
    t.close(m.running_median(t(x[::3])), np.array([np.median(x[: 3 * i + 1 : 3]) for i in range(34)]), rtol=1e-15)
    for dtype in (np.float32, np.float64, np.int64, np.uint8):
        v = t.rng.integers(0, 30, 53).astype(dtype)
        for w in (1, 7, 53):
            t.close(m.sliding_max(t(v), w), np.lib.stride_tricks.sliding_window_view(v, w).max(1), rtol=0, atol=0)
    assert m.primes_below(100) == [n for n in range(2, 100) if all(n % d for d in range(2, n))]
    assert m.primes_below(0) == [] == m.primes_below(-5)
    assert m.anagrams(["tea", "dog", "eat", "god", "ate", "cat"]) == [["dog", "god"], ["tea", "eat", "ate"]]
    ids = t.rng.integers(-(10**12), 10**12, 9)[t.rng.integers(0, 9, 60)]
    names = {}
    t.close(m.inverse_unique(t(ids)), np.array([names.setdefault(i, len(names)) for i in ids.tolist()]))
    spans = [tuple(sorted(p)) for p in t.rng.integers(-20, 20, (15, 2)).tolist()]
    points = list(range(-25, 25))
    assert m.intervals_at(spans, points) == [sum(a <= p < b for a, b in spans) for p in points]
    with t.raises(ValueError, "a window of 54 over 53 values"):
        m.sliding_max(t(v), 54)
    with t.raises(RuntimeError, "a cache of nothing"):
        m.cached_row_sums(t(table), [1], 0)
