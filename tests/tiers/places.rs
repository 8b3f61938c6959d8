//! Places: pointers and references to one of several variables by a condition, and numbers read in memory of another type.

use super::stmt::Writer;
use super::text::Node;

const CONDITIONS: [&str; 6] =
    ["a[i] > b[i]", "(p[i] & 1) != 0", "(i & 3) == 1", "k > 2", "u[i] > u[i + 1]", "a[i] <= 0.0f"];

impl Writer {
    fn condition(&mut self) -> &'static str {
        CONDITIONS[self.below(CONDITIONS.len())]
    }

    /// A block that reads and writes one of several structs, numbers or elements of an array.
    pub fn chosen(&mut self) -> Node {
        let (one, other) = (self.condition(), self.condition());
        let text = match self.below(6) {
            0 => format!(
                "struct Pair {{ float v; int at; }}; Pair first = {{ a[i], (int)i }}, last = {{ b[i], k }}; \
                 Pair big = {one} ? first : last, small = {one} ? last : first; (({other}) ? big : small).at += 3; \
                 y[i] += big.v - small.v; r[i] ^= big.at + 2 * small.at;"
            ),
            1 => format!(
                "float m[4] = {{ a[i], b[i], s, 1.0f }}; float& low = {one} ? m[1] : m[2]; low += 2.0f; \
                 float* high = {other} ? &m[0] : &low; *high *= 0.5f; y[i] += m[0] + m[1] * m[2];"
            ),
            2 => format!(
                "int t0 = p[i], t1 = (int)i, t2 = k; int* t = {one} ? &t0 : {other} ? &t1 : &t2; \
                 for (int j = 0; j < 3; j++) *t += j + 1; r[i] += t0 ^ t1 ^ t2;"
            ),
            3 => format!("double none = 1.5; const double* from = {one} ? d + i : &none; e[i] += *from;"),
            4 => "float best = a[i], next = b[i]; for (int j = 1; j < 4; j++) { float* low = best < next ? &best : &next; \
                  *low += a[i + j]; } y[i] += best * next;"
                .to_owned(),
            _ => format!(
                "long long w[2] = {{ q[i], 5 }}; long long* kept = w; if ({one}) kept = w + 1; if ({other}) *kept -= q[i + 1]; \
                 z[i] += w[0] * 3 + w[1];"
            ),
        };
        Node::block("{", vec![Node::pinned(text)], "}")
    }

    /// A block with numbers in memory of another type, at multiples of their size.
    pub fn retyped(&mut self) -> Node {
        let text = match self.below(8) {
            0 => "const unsigned char* at = (const unsigned char*)p + 4 * (i & 127); r[i] ^= *(const int*)at;",
            1 => "const int* words = (const int*)((const char*)p + 4 * (k & 7)); r[i] += words[i];",
            2 => "r[i] += *(const int*)((const char*)p + (u[i] & 63) * 4);",
            3 => {
                "const short* halves = (const short*)((const char*)p + 2 * (k & 3)); \
                 for (int j = 0; j < 5; j++) r[i] += halves[i + j * 3];"
            }
            4 => "z[i] += *(const long long*)((const char*)d + 8 * (i & 15));",
            5 => {
                "struct Numbers { short scale; unsigned char each[6]; }; const Numbers* some = (const Numbers*)((const char*)p + 8 * (i & 31)); \
                 r[i] += some->scale + some->each[k & 3];"
            }
            6 => "*(int*)((char*)r + 4 * i) ^= k;",
            _ => "for (int j = 0; j < 4; j++) y[i] += (float)*(const unsigned*)((const char*)u + 4 * (i + 3 * j));",
        };
        Node::block("{", vec![Node::pinned(text)], "}")
    }
}
