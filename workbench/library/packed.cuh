__device__ inline unsigned __wb_word(char4 v) {
    unsigned char a = v.x, b = v.y, c = v.z, d = v.w;
    return a | b << 8 | c << 16 | (unsigned)d << 24;
}
__device__ inline unsigned __wb_word(uchar4 v) { return v.x | v.y << 8 | v.z << 16 | (unsigned)v.w << 24; }
__device__ inline unsigned __wb_word(short2 v) { return (unsigned short)v.x | (unsigned)v.y << 16; }
__device__ inline unsigned __wb_word(ushort2 v) { return v.x | (unsigned)v.y << 16; }

__device__ inline int __dp4a(char4 a, char4 b, int c) { return __dp4a((int)__wb_word(a), (int)__wb_word(b), c); }
__device__ inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return __dp4a(__wb_word(a), __wb_word(b), c); }
__device__ inline int __dp2a_lo(short2 a, char4 b, int c) { return __dp2a_lo((int)__wb_word(a), (int)__wb_word(b), c); }
__device__ inline unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return __dp2a_lo(__wb_word(a), __wb_word(b), c); }
__device__ inline int __dp2a_hi(short2 a, char4 b, int c) { return __dp2a_hi((int)__wb_word(a), (int)__wb_word(b), c); }
__device__ inline unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return __dp2a_hi(__wb_word(a), __wb_word(b), c); }
