// `<curand_kernel.h>`: cuRAND's device interface for XORWOW, MRG32k3a and Philox4x32-10. Written from the papers named below and
// NVIDIA's documentation; what is cuRAND's own (how a seed enters a state, what a draw becomes) are facts checked against its header.
//
// The same bits as cuRAND's: `curand`, `curand4`, `curand_uniform*`, the states after `curand_init` and `skipahead*`, and their layouts.
// MRG32k3a's subsequences are so below 2^51, where the next sequence begins; past that, cuRAND's reads beyond its tables.
// The same draws and formulas, but for the last bits: `curand_normal*` and `curand_log_normal*` (a GPU takes its fast sine and cosine
// for floats), `curand_poisson` below 64 and above 4000. Between these it has the same distribution by another algorithm.
// Not here: MTGP32, Sobol sequences, `curand_discrete`.

struct curandStateXORWOW {
    unsigned d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStateMRG32k3a {
    unsigned s1[3], s2[3];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE;
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// The second value of a Box-Muller pair is dropped.
template <typename State> __device__ inline void __wb_curand_forget(State* state) {
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

// XORWOW: G. Marsaglia, "Xorshift RNGs", 2003: a shift register of 160 bits and a counter added to its words.
//
// A step of the register is a linear map T over GF(2), so n steps are (x^n mod p)(T), p being T's characteristic polynomial: the sum of
// the states at those of the next 160 steps where x^n mod p has a one. Each row here is such a polynomial, the low word first.
// Subsequences are 2^67 steps apart, over which the counter returns to where it was.

static __device__ const unsigned __wb_xorwow_jumps[164][5] = {
    // 0: x^(d 16^k 2^67), d = 1 to 15, k = 0 to 3: the low digits of a subsequence, which are those of a thread.
    {0x26294934,0x77bbc248,0x1a87dad0,0x930052d4,0x947e6dd2}, {0x5f39c379,0x95e20ba6,0x20e9ff72,0x1244ce5e,0xe8fd228f},
    {0xd34e34c8,0x63486aa2,0x7ff96712,0xb90b6c6f,0x2756bc3}, {0xa7474d19,0x37c549e0,0x140877d2,0x24c43924,0xcd52ebec},
    {0x7d3f439f,0xf2102b15,0xaf1bed4b,0xf6f1cfec,0x1982ad53}, {0x355e3fb6,0x29467127,0x7954e427,0xd3a177eb,0x65a68842},
    {0xe8f8402f,0x251607a4,0x973ac23c,0xb54f78fc,0xe384edc}, {0xe0360ec5,0xb1c96c24,0xdbb91766,0x666ff5dc,0xf19a7e52},
    {0xf4688790,0x150b7bd8,0xd8a4058b,0xa544e815,0x84f3cbe0}, {0x376a36a3,0x893d50f9,0x3cca775c,0x94188f5f,0x1f7c8c1c},
    {0x6876703b,0xae8bcf58,0xeb4934b3,0xbe2cf977,0xe6c88e5a}, {0xc7d2569f,0xcea9dca7,0x343a9caa,0x9c4f3af0,0xaf3023c5},
    {0x4860ac12,0x281a7616,0x95ec5753,0x3b99123d,0x299eb019}, {0xc1e1cee4,0x8773de1c,0xef0edcaa,0x957d6ecc,0x6ca6ef04},
    {0xa8843f8,0x3c8b03b2,0x2a9df47d,0xa3aee006,0xd33edbb5}, {0xfcc8f692,0x35aa698a,0x4ebbf85,0x448304b0,0x82f3fd5},
    {0x48c289bd,0xe851cf98,0x845ad581,0xfd70752a,0x2c3e63f6}, {0x1e21ea90,0x66483ba4,0x367e8d5a,0x354ec274,0xc46eebcf},
    {0xe502f5b3,0x77859d31,0x97e1cbb3,0xea09047a,0x61d5f37e}, {0x1cee85c5,0x5e20b31a,0xae442891,0xda5c599e,0x2b5aa0dd},
    {0x9979962,0xf7a2c5d6,0x82c38e48,0x80127a42,0xf08a08b1}, {0x5ec46d26,0xd29b6df8,0x199a9d07,0x338f779e,0xa948f8a9},
    {0xb89326d0,0x5a8655a9,0xfb6e98f5,0x2102162,0x7e6fcf6f}, {0xcb2fec0e,0x515a7310,0x4f28da5a,0x34eef0e3,0x84aaaa48},
    {0x757560fb,0x383e791,0xdff3e8ac,0x40eed643,0x6576f7aa}, {0xfe9fb37d,0xa4b61dc1,0xac099770,0x4f3b098b,0x174cfea2},
    {0xb67196a6,0x52d14ef3,0xf4b8b94d,0x8dd71586,0x8c7c93b9}, {0xbe76bf2a,0xafa4810a,0x739ddda6,0xafca9a7,0x38c9742f},
    {0xa55bf292,0x2ad932b8,0x2a078539,0x84515a78,0x83ce2623}, {0x673c6826,0x7970589b,0x50c4b02e,0xf5833b5b,0xba027595},
    {0xb3a15db4,0xc6df3330,0x1a8be751,0xf1e4b221,0x6bb61c05}, {0x133de1d0,0x361e4422,0xc6131fcf,0xd9719f45,0x9658a164},
    {0x1cc3f658,0x7367a8cd,0x2de525a8,0x3d325bb2,0x11840690}, {0x19e2bee8,0xf8974218,0x4e65536a,0xa2570336,0xe9b88082},
    {0x9670b020,0xc8a19cea,0x6f9a91dd,0x88ff33fe,0xfcacb8ce}, {0x27c4ed23,0x2ec72ef3,0x9e4baf39,0x9ef3a344,0xc8f4977a},
    {0xf5736e,0xabfc9507,0xa647616e,0xb6902bab,0xc732b131}, {0x7863644b,0x2a21ce84,0x112e86f1,0xed01ce0e,0xba143e84},
    {0x5f388f5d,0x8449c123,0xa764122,0x56985ea6,0x1546a43d}, {0x28b544d7,0x6d34c95f,0x159159a7,0x993487c7,0x43b9e8a5},
    {0x35662364,0xf51d2ce2,0x304a7885,0x1c7fce4d,0x918fab4a}, {0xb6413ee8,0x465624d8,0xbef4cb2b,0x5e4f8afa,0x7bca03cd},
    {0x5d5db0ed,0xcc749900,0x1f667c65,0xdef695d4,0x24433877}, {0xbc9909a5,0x75353d5e,0x9d6f85a,0x544302d,0xbaf6e3b8},
    {0x14c50bb1,0x659d7c53,0xdf8d6524,0x23f1cc03,0x93dfcf0a}, {0xe2cae2e,0xd1011279,0x58923768,0x2bf650ba,0xc985bcda},
    {0x213a286a,0x6596b510,0x6fc10eae,0x38a13547,0x11c7749e}, {0xcbac929e,0x575f836,0x676f5c22,0xfd7e35af,0x6c6d186b},
    {0x146281e7,0xa45b4452,0xafa8c695,0x74a0ac94,0x4b250e0a}, {0x7cc3a30d,0x7af6aba9,0xb76a95b5,0x7ede6bf3,0x73ca3ea2},
    {0x866032a,0xcb8fbd43,0x434a2e25,0x76eaae6b,0x13033bc8}, {0x5bdf8040,0x819445fe,0x8e1b4143,0x8fcbd027,0xb6d68447},
    {0x2306bc52,0x790f3b4c,0x2fe473b9,0xbc81d7c0,0x93efe98}, {0xbbf96040,0x378d69ed,0x818e3afd,0xc933a401,0xe1b3bd35},
    {0xe56a37b5,0x7fbf623f,0xb65ee777,0x33ea8847,0xda382be9}, {0x5b985de7,0xbc7a8575,0xd49fdfc0,0xaceac3d0,0xabcc7c87},
    {0xdb2cf4c2,0xb49a5412,0x5c88dea9,0xd999bf6c,0xffe7924e}, {0xa608a919,0xc837eb1d,0xacb40874,0x30685f3e,0x5071b091},
    {0x6dda9fe0,0x9173054b,0x9e61560a,0x134264a2,0xccaaed2c}, {0x104ecff0,0x2d271e74,0x8406da7a,0x5258916d,0x7e87f982},
    // 60: x^(2^k 2^67), k = 16 to 63.
    {0x89658c8b,0xf3914315,0xa73fe84b,0x3c5fadb6,0xadba8dd6}, {0x9e49814,0x9caf5ed,0x6b2460d9,0x1b9981c1,0x2d1fefc3},
    {0x82161afc,0x9bb13c55,0xfd20d7fb,0x306d90b9,0x92bf386f}, {0x96d32350,0xe081864,0x69faa798,0xe7faecf5,0xf1f951be},
    {0x3e9058c1,0x71da9705,0xe2cb1f2b,0x73456536,0xbd6501b6}, {0x990ffc6e,0xbfdd1b5d,0xc83e520b,0xe972936a,0xac79abb9},
    {0xb1321eb5,0xb06d01a2,0x51532012,0x8fb59962,0x141d3b0b}, {0x3257dfe1,0xd8a3d601,0x3a58c735,0x845f36e4,0x112c611},
    {0xa0ffe9a4,0xf57be00e,0xe706880c,0x191211ef,0xee5664fb}, {0x9a3385b8,0xc540c30a,0xb241d1e0,0x626569,0x6b355fe9},
    {0xe129d45d,0xac3e698b,0xd61f79fd,0x7a72a28b,0x7f4942be}, {0x612501bb,0xae7b767d,0xaa66c165,0x9bfaf8e,0x3e55c16d},
    {0x874e26a7,0x33bc5a47,0xad95cba5,0x67651c39,0xf1f07dca}, {0xb5ed0732,0x30e7a573,0x5c056714,0x2304f8fa,0xebc584e1},
    {0x4b324c2e,0x2bdcc5a0,0x53eb4240,0xcac4fbc1,0x13e529e7}, {0xe1683e38,0xa2339994,0x7308a647,0xc7c3f0b1,0x4a3dcd33},
    {0x5fe4b704,0xd77445c3,0xb80eeb3c,0x6720fc6d,0x7da33f71}, {0xea0715d2,0x435bf5e0,0x8b125b82,0x2bf15174,0x451636c0},
    {0x27786b0d,0x55a8b8bb,0xad73d087,0x548172a6,0xb8dcb607}, {0xedbc74ac,0x9333668e,0x5330ec7e,0x139bc173,0x8df22694},
    {0x1e9372dd,0xe081adcc,0xf9650df2,0xad599e4,0x21aeba83}, {0x81e94b95,0x2bd032f,0x4241ada2,0x7cf446d1,0x585759bb},
    {0x552ec26f,0x2663dad8,0x25bf8d5e,0x538f9e9b,0x804bfd4c}, {0xaed86880,0x7cc53d77,0x2379080d,0x66b5ba47,0x271e9c90},
    {0xab750c90,0x454415ef,0xd94a347c,0xd23c81be,0x551c7096}, {0x3024c55f,0x9b3a9b08,0xcef11c55,0x3019557d,0x8303d6d},
    {0xbc6d2665,0xc1fd8153,0xd43c38c9,0xd70344cc,0x279357c0}, {0x685d57df,0xda26a2f1,0x5174006a,0xe55bf1f1,0x5f20a739},
    {0x88aced61,0x3925e5e8,0xc8af3caa,0xefa299b1,0xbc1538f8}, {0x2b0ca967,0xf25d1aba,0x4062850b,0x683d0590,0xabd1b043},
    {0xc3051a0a,0x11a68894,0xec32c75,0xb9e1af76,0x45d20f13}, {0xbd2198a4,0xc68fea4b,0x9de877e,0x2b15c9cf,0x7b2e8734},
    {0x54f062f0,0xcf7989d8,0x443e496b,0x17d83e81,0xa2be8639}, {0x6cb408db,0x56912973,0xebc71d0f,0x21fbfabc,0xf266d5dc},
    {0x267af43c,0x14dfd913,0x2dbb25b6,0x227b1a06,0x24402bc6}, {0xac63df96,0x4e3cf79b,0xe20e3c11,0x1a5771cf,0xc0e37c49},
    {0xad66cdfe,0x7cfa6a50,0x8fca746a,0x7b18f04b,0x28eeb28f}, {0xef049d6f,0xf7192531,0xabc5f1de,0x1ea75f09,0x3be64a78},
    {0x37abb017,0x7735fb03,0x557fb7cd,0x520ea993,0x69e4a18d}, {0xc83c8e40,0x9fb2f16f,0xf95170a2,0x401ffac4,0x6b70bfeb},
    {0x53140fdd,0xdfb37a9,0x88772b05,0x20be07e3,0x128c07bd}, {0x5df0aeb5,0x9f52cccd,0xe8b1551,0x6935a9c,0x648b1463},
    {0x1e72e926,0x829ca1d2,0x84c2bd7,0xcea065e7,0xd2b401bf}, {0xb97fcd4,0xd9a6c1c6,0x705a959a,0xcc8d909,0xe38aca23},
    {0x93d21898,0x97c7960e,0xb2899f9d,0xd528a53d,0x4f33fca}, {0x942240e,0xc18f6e56,0x9551c4dd,0x61c8179b,0xead20f15},
    {0x6e1a24f,0x4a7295af,0x5534bfe6,0x452ec8f1,0x79685920}, {0xa0bcccfe,0x2de5181c,0x33c9d258,0xaf27908d,0xcfd04995},
    // 108: x^(2^k), k = 8 to 63.
    {0xbebd3534,0x7064f5bc,0x20be29eb,0x536d5b32,0x63a0069}, {0x9df022be,0x4c2ee09f,0x939c7c8,0xe711c2f8,0xc6f135ae},
    {0xed64ec08,0xafc48684,0xd81c59ee,0x1640314f,0x2bf0ccef}, {0x16ade0a0,0x3ff6a2d3,0x4746bd83,0x2e65a497,0x263e40a4},
    {0x9d10e028,0xee56d79c,0xfb1b3286,0xf747418,0x26f9476d}, {0x284e9f80,0x95328d41,0x97ec0360,0x1e655d95,0x60a9306f},
    {0x3f490634,0x9ae593fc,0x1a95bb6b,0xda10a3fc,0xa3abaf54}, {0xa80ecea0,0x392ca981,0x191e801e,0xceb66042,0x2f4edc3f},
    {0xfb9680e9,0xbdaba0b2,0x3986540f,0x23fe6ccc,0x994e82f}, {0x4d53badb,0x3e30e97d,0x19abbaf6,0x5cd52f87,0x98663641},
    {0x32da6db4,0x80135829,0x3abd4734,0x2060c3f9,0x38b2dd97}, {0xbd3a57bd,0x66101a8,0xb4f188e,0x16890623,0x8bf58771},
    {0xc5b636f,0x4407a814,0x60204515,0x5bd4dbd2,0x2509eeb5}, {0xa87f2bfe,0x143dfcb,0x4b5142ba,0xfd21a24b,0x3dac4527},
    {0x21e9179d,0x2b57aa94,0x5f06e1fc,0x6735dc98,0x9aa0181f}, {0x4a85a684,0x2ff777f0,0x8e58b0ed,0xd4e84a39,0x6d37f6a0},
    {0x793adf2b,0x3d3e75c8,0xb091758,0x9deb3f50,0xbcd116ec}, {0x89c7a15d,0x43629d41,0x8a870ba5,0xa7916f56,0x9db15489},
    {0xfa8fc346,0x694921b1,0xf2bd4c48,0x8b05ae1b,0x2de7aee2}, {0xbc1bc6b9,0xd73ea395,0xfbdd753d,0xe45dbacd,0x7b16eae0},
    {0xf144e1f3,0xb9b4b3c4,0x8222f622,0x9072105a,0x66083550}, {0xd88a6c5e,0x9ac20a72,0x209ef9a8,0xe8e4fd8a,0x1ec855a5},
    {0xbd734cf1,0x9254a905,0xfb38236d,0x11e62fd3,0xf9e7d21e}, {0x8d333839,0x69fed6df,0x79338fde,0xa38a8714,0xe538bca},
    {0x943999e4,0xc05db913,0x4e4010f3,0x9b865d3d,0xfd64174}, {0x13da6451,0x4f1636fa,0x6e523e62,0xac374f44,0x69a2e37f},
    {0x19eb1bbb,0xbaea3750,0xfa8f206,0xd49dd019,0x9b3bccaf}, {0x13e4fc6,0x8fb0b988,0xbad0233b,0x63941ad7,0xf5f02d75},
    {0xc97b5642,0x2ebac13d,0xbfe04058,0x2c6a7132,0x576780a5}, {0x4add1023,0x5f64e54e,0xb0c250a8,0xcf4bd212,0x9a873149},
    {0xac5eea9,0xa37bfcd3,0x790ec91d,0xba339dbc,0xc83db5cd}, {0x67dd06cb,0xcbfe08ec,0xf64e2fa5,0x75fe23cf,0xfc09983},
    {0xa33b53ff,0x1ce9360d,0x4727f89b,0x5eacbcd,0x1632278}, {0x9aee97cb,0xde7db52,0x74719fda,0x51b8e04b,0x959e9904},
    {0x22b4f98c,0xd23a7f5a,0x8d420edd,0xeadda806,0xcfd2a002}, {0x817ef0eb,0xd19e838e,0xb26e9dc8,0xf5ba04fb,0x8adf73e9},
    {0xf66ad52b,0x3ab8e3d7,0x1e8352a4,0xe44a8605,0x6c106869}, {0x480973c1,0xb4f4959e,0x173d230a,0x6f15e08e,0xf07c940e},
    {0x79a31c08,0xc28d5d18,0x91649708,0x8b1bb8f8,0xf9158a86}, {0x8e346bed,0x85425fb6,0xbcd60f3a,0x4d16f104,0xff233c77},
    {0x670f870e,0xa7bb9766,0xef013c78,0xeb4a1373,0x256f3323}, {0x9d89e990,0x682dbe05,0xc85ca267,0x2cbf3ed6,0xfd2d1a54},
    {0xf333af18,0x3b4e266b,0xa872663e,0x3888cd82,0x4daf13ec}, {0x304ad7f4,0x3728f391,0xbf3ca967,0xc7b1330d,0x264c2cbd},
    {0x75689dc9,0x36bf3a9,0x64ce979c,0x3bdff14f,0x51e43048}, {0x42defd6d,0xde992014,0x478a54ff,0x7802d9cb,0xb6d27a79},
    {0xef06fe75,0xefd6d1d8,0x9319075,0x69d568f5,0x5b2bd898}, {0x51c810c4,0xfacd06d9,0xe3a66475,0x81ae21e0,0x6418d45c},
    {0xf05ae255,0xc4df4ca0,0xf032420c,0xf44ae9f0,0xe0298de2}, {0xf9b9947b,0x7326e30a,0x3366c775,0x91d00e4c,0x86c178cc},
    {0x2308bc9,0xdbe74dee,0xf4c5fe7d,0xaac571a1,0xaa1f5f8b}, {0x32d9c79b,0xd1bae44,0x2bb4e02c,0xc92178df,0x6632236d},
    {0x6e8043ca,0xed24ff6,0x1e668b6a,0x538fc45f,0x4bfb509d}, {0x9319804d,0x48c2c289,0xe00641cb,0x49929826,0x35e4c368},
    {0x9f564f7b,0x543973e4,0x9b33ee2c,0x149df73a,0x58f31585}, {0xbfe990f7,0xb6e2abc8,0x11498fa,0x240651ed,0x88cb16b1},
};

__device__ inline void __wb_xorwow_step(unsigned* v) {
    unsigned t = v[0] ^ (v[0] >> 2), last = v[4];
    v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = last;
    v[4] = last ^ (last << 4) ^ t ^ (t << 1);
}
__device__ inline void __wb_xorwow_skip(unsigned long long subsequences, unsigned long long steps, curandStateXORWOW* state) {
    unsigned* v = state->v;
    state->d += 362437u * (unsigned)steps;
    for (unsigned i = (unsigned)steps & 255; i; --i) __wb_xorwow_step(v);
    for (int part = 0; part < 3; ++part) {
        unsigned bits = part == 0 ? 4 : 1, row = part == 0 ? 0 : part == 1 ? 60 : 108;
        unsigned long long n = part == 0 ? subsequences & 0xffff : part == 1 ? subsequences >> 16 : steps >> 8;
        for (; n; row += (1u << bits) - 1, n >>= bits) {
            unsigned digit = (unsigned)n & ((1u << bits) - 1);
            if (digit == 0) continue;
            unsigned a = v[0], b = v[1], c = v[2], d = v[3], e = v[4];
            unsigned sum[5] = {0, 0, 0, 0, 0};
            for (int word = 0; word < 5; ++word) {
                unsigned ones = __wb_xorwow_jumps[row + digit - 1][word];
                for (int i = 0; i < 32; ++i, ones >>= 1) {
                    if (ones & 1) sum[0] ^= a, sum[1] ^= b, sum[2] ^= c, sum[3] ^= d, sum[4] ^= e;
                    unsigned t = a ^ (a >> 2);
                    a = b, b = c, c = d, d = e;
                    e = e ^ (e << 4) ^ t ^ (t << 1);
                }
            }
            for (int i = 0; i < 5; ++i) v[i] = sum[i];
        }
    }
}
__device__ inline void skipahead(unsigned long long n, curandStateXORWOW* state) { __wb_xorwow_skip(0, n, state); }
__device__ inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) { __wb_xorwow_skip(n, 0, state); }
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStateXORWOW* state) {
    // A seed moves Marsaglia's numbers.
    unsigned low = ((unsigned)seed ^ 0xaad26b49u) * 1099087573u, high = ((unsigned)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    state->d = 6615241u + low + high;
    state->v[0] = 123456789u + low;
    state->v[1] = 362436069u ^ low;
    state->v[2] = 521288629u + high;
    state->v[3] = 88675123u ^ high;
    state->v[4] = 5783321u + low;
    __wb_xorwow_skip(subsequence, offset, state);
    __wb_curand_forget(state);
}
__device__ inline unsigned curand(curandStateXORWOW* state) {
    __wb_xorwow_step(state->v);
    state->d += 362437u;
    return state->d + state->v[4];
}

// Philox4x32-10: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The key is the seed, the counter's upper
// half the subsequence, its lower half the offset in fours; `output` holds the four numbers that are being handed out.
__device__ inline void __wb_philox_fill(curandStatePhilox4_32_10* state) {
    uint4 c = state->ctr;
    unsigned k0 = state->key.x, k1 = state->key.y;
    for (int round = 0; round < 10; ++round) {
        unsigned long long p0 = 0xd2511f53ull * c.x, p1 = 0xcd9e8d57ull * c.z;
        c = make_uint4((unsigned)(p1 >> 32) ^ c.y ^ k0, (unsigned)p1, (unsigned)(p0 >> 32) ^ c.w ^ k1, (unsigned)p0);
        k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
    }
    state->output = c;
}
__device__ inline void __wb_philox_add_high(curandStatePhilox4_32_10* state, unsigned long long n) {
    n += (unsigned long long)state->ctr.w << 32 | state->ctr.z;
    state->ctr.z = (unsigned)n, state->ctr.w = (unsigned)(n >> 32);
}
__device__ inline void __wb_philox_add(curandStatePhilox4_32_10* state, unsigned long long n) {
    unsigned long long sum = n + ((unsigned long long)state->ctr.y << 32 | state->ctr.x);
    state->ctr.x = (unsigned)sum, state->ctr.y = (unsigned)(sum >> 32);
    if (sum < n) __wb_philox_add_high(state, 1);
}
__device__ inline void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
    unsigned next = state->STATE + (unsigned)(n & 3);
    state->STATE = next & 3;
    __wb_philox_add(state, (n >> 2) + (next >> 2));
    __wb_philox_fill(state);
}
__device__ inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
    __wb_philox_add_high(state, n);
    __wb_philox_fill(state);
}
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStatePhilox4_32_10* state) {
    state->ctr = make_uint4(0, 0, (unsigned)subsequence, (unsigned)(subsequence >> 32));
    state->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    state->STATE = 0;
    skipahead(offset, state);
    __wb_curand_forget(state);
}
__device__ inline unsigned curand(curandStatePhilox4_32_10* state) {
    uint4 o = state->output;
    unsigned at = state->STATE;
    unsigned result = at == 0 ? o.x : at == 1 ? o.y : at == 2 ? o.z : o.w;
    if (at == 3) {
        __wb_philox_add(state, 1);
        __wb_philox_fill(state);
    }
    state->STATE = (at + 1) & 3;
    return result;
}
// The next four numbers.
__device__ inline uint4 curand4(curandStatePhilox4_32_10* state) {
    uint4 o = state->output;
    __wb_philox_add(state, 1);
    __wb_philox_fill(state);
    uint4 n = state->output;
    switch (state->STATE) {
    case 0: return o;
    case 1: return make_uint4(o.y, o.z, o.w, n.x);
    case 2: return make_uint4(o.z, o.w, n.x, n.y);
    default: return make_uint4(o.w, n.x, n.y, n.z);
    }
}

// MRG32k3a: P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators", 1999: the
// difference of two recurrences of third order, each modulo a prime just below 2^32.
//
// As with XORWOW, n steps are x^n modulo the recurrence's own polynomial: x^3 = r2 x^2 + r1 x + r0, coefficients modulo 2^32 - gap.
struct __wb_mrg_polynomial {
    unsigned c0, c1, c2;
};
struct __wb_mrg {
    unsigned gap, r0, r1, r2;
    // A number below 2^56, modulo the prime; gaps are below 2^15.
    __device__ unsigned mod(unsigned long long x) const {
        x = (x >> 32) * gap + (unsigned)x;
        x = (x >> 32) * gap + (unsigned)x;
        unsigned long long prime = 0x100000000ull - gap;
        return (unsigned)(x >= prime ? x - prime : x);
    }
    // A product, below 2^48.
    __device__ unsigned long long product(unsigned a, unsigned b) const {
        unsigned long long p = (unsigned long long)a * b;
        return (p >> 32) * gap + (unsigned)p;
    }
    __device__ unsigned sum(unsigned a, unsigned x, unsigned b, unsigned y, unsigned c, unsigned z) const {
        return mod(product(a, x) + product(b, y) + product(c, z));
    }
    __device__ __wb_mrg_polynomial multiply(__wb_mrg_polynomial p, __wb_mrg_polynomial q) const {
        unsigned c4 = mod(product(p.c2, q.c2)), c3 = sum(p.c1, q.c2, p.c2, q.c1, c4, r2);
        unsigned long long c2 = product(p.c0, q.c2) + product(p.c1, q.c1) + product(p.c2, q.c0);
        return __wb_mrg_polynomial{mod(product(p.c0, q.c0) + product(c3, r0)),
                                   mod(product(p.c0, q.c1) + product(p.c1, q.c0) + product(c4, r0) + product(c3, r1)),
                                   mod(c2 + product(c4, r1) + product(c3, r2))};
    }
};
// The coefficients: -810728 and 1403580 modulo the first prime, -1370589 and 527612 modulo the second.
__device__ inline __wb_mrg __wb_mrg_part(int part) {
    return part == 0 ? __wb_mrg{209, 4294156359u, 1403580, 0} : __wb_mrg{22853, 4293573854u, 0, 527612};
}
// The strides: one step, a subsequence of 2^76, a sequence of 2^127: x^(..) for either part.
static __device__ const __wb_mrg_polynomial __wb_mrg_strides[3][2] = {
    {{0, 1, 0}, {0, 1, 0}},
    {{82758667u, 1871391091u, 4127413238u}, {1511326704u, 3759209742u, 1610795712u}},
    {{2427906178u, 3580155704u, 949770784u}, {1464411153u, 277697599u, 1610723613u}},
};
__device__ inline void __wb_mrg_skip(unsigned long long n, int stride, curandStateMRG32k3a* state) {
    for (int part = 0; part < 2; ++part) {
        __wb_mrg m = __wb_mrg_part(part);
        unsigned* s = part == 0 ? state->s1 : state->s2;
        __wb_mrg_polynomial q = {1, 0, 0}, x = __wb_mrg_strides[stride][part];
        // The bits of n from the highest: square, and multiply by the stride where the bit is set.
        for (int i = n ? 2 * (64 - __clzll((long long)n)) - 1 : -1; i >= 0; --i) {
            bool square = i & 1;
            if (square || n >> (i >> 1) & 1) q = m.multiply(q, square ? q : x);
        }
        unsigned s3 = m.sum(m.r0, s[0], m.r1, s[1], m.r2, s[2]), s4 = m.sum(m.r0, s[1], m.r1, s[2], m.r2, s3);
        s[0] = m.sum(q.c0, s[0], q.c1, s[1], q.c2, s[2]);
        s[1] = m.sum(q.c0, s[1], q.c1, s[2], q.c2, s3);
        s[2] = m.sum(q.c0, s[2], q.c1, s3, q.c2, s4);
    }
}
__device__ inline void skipahead(unsigned long long n, curandStateMRG32k3a* state) { __wb_mrg_skip(n, 0, state); }
__device__ inline void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* state) { __wb_mrg_skip(n, 1, state); }
__device__ inline void skipahead_sequence(unsigned long long n, curandStateMRG32k3a* state) { __wb_mrg_skip(n, 2, state); }
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStateMRG32k3a* state) {
    // A seed other than zero multiplies L'Ecuyer's 12345.
    unsigned low = seed ? (unsigned)seed ^ 0x55555555u : 1, high = seed ? (unsigned)(seed >> 32) ^ 0xaaaaaaaau : 1;
    for (int i = 0; i < 3; ++i) {
        state->s1[i] = (unsigned)((i == 1 ? high : low) * 12345ull % 4294967087u);
        state->s2[i] = (unsigned)((i == 1 ? low : high) * 12345ull % 4294944443u);
    }
    for (int stride = 0; stride < 2; ++stride) __wb_mrg_skip(stride == 0 ? offset : subsequence, stride, state);
    __wb_curand_forget(state);
}
// A number from 1 to the first prime.
__device__ inline unsigned __wb_mrg_next(curandStateMRG32k3a* state) {
    unsigned* s = state->s1;
    unsigned* t = state->s2;
    unsigned a = __wb_mrg_part(0).mod(1403580ull * s[1] + 810728ull * (4294967087u - s[0]));
    unsigned b = __wb_mrg_part(1).mod(527612ull * t[2] + 1370589ull * (4294944443u - t[0]));
    s[0] = s[1], s[1] = s[2], s[2] = a;
    t[0] = t[1], t[1] = t[2], t[2] = b;
    return a > b ? a - b : a - b + 4294967087u;
}
__device__ inline unsigned curand(curandStateMRG32k3a* state) { return (unsigned)(__wb_mrg_next(state) * 1.000000048662); }

// Numbers in (0, 1]: 32 bits and a half, 53 bits and a half. MRG32k3a's are parts of its first prime, in both; Philox's single doubles
// are of one draw, not of two.
__device__ inline float __wb_curand_unit(unsigned x) { return x * 0x1p-32f + 0x1p-33f; }
__device__ inline double __wb_curand_unit_double(unsigned x, unsigned y) {
    return ((unsigned long long)x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}
__device__ inline float curand_uniform(curandStateXORWOW* state) { return __wb_curand_unit(curand(state)); }
__device__ inline float curand_uniform(curandStatePhilox4_32_10* state) { return __wb_curand_unit(curand(state)); }
__device__ inline double curand_uniform_double(curandStateXORWOW* state) {
    unsigned x = curand(state), y = curand(state);
    return __wb_curand_unit_double(x, y);
}
__device__ inline double curand_uniform_double(curandStatePhilox4_32_10* state) { return curand(state) * 0x1p-32 + 0x1p-32; }
__device__ inline double curand_uniform_double(curandStateMRG32k3a* state) {
    return __wb_mrg_next(state) * 2.3283065498378288e-10;  // 1 / 4294967087
}
__device__ inline float curand_uniform(curandStateMRG32k3a* state) { return (float)curand_uniform_double(state); }
__device__ inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    uint4 x = curand4(state);
    return make_float4(__wb_curand_unit(x.x), __wb_curand_unit(x.y), __wb_curand_unit(x.z), __wb_curand_unit(x.w));
}
__device__ inline double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
    uint4 x = curand4(state);
    return make_double2(__wb_curand_unit_double(x.x, x.y), __wb_curand_unit_double(x.z, x.w));
}
__device__ inline double4 curand_uniform4_double(curandStatePhilox4_32_10* state) {
    double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
    return make_double4(a.x, a.y, b.x, b.y);
}

// Pairs of normal numbers by Box and Muller: the sine first. In doubles the angle is in half turns.
__device__ inline float2 __wb_box_muller(float u, float angle) {
    float radius = sqrtf(-2.0f * logf(u)), s, c;
    sincosf(angle, &s, &c);
    return make_float2(s * radius, c * radius);
}
__device__ inline double2 __wb_box_muller_double(double u, double angle) {
    double radius = sqrt(-2.0 * log(u)), s, c;
    sincospi(angle, &s, &c);
    return make_double2(s * radius, c * radius);
}
__device__ inline float2 __wb_curand_pair(unsigned x, unsigned y) {
    return __wb_box_muller(__wb_curand_unit(x), fmaf((float)y, 0x1.921fb6p-30f, 0x1.921fb6p-31f));  // 2 pi / 2^32, half of it
}
__device__ inline double2 __wb_curand_pair_double(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
    return __wb_box_muller_double(__wb_curand_unit_double(x0, x1), 2.0 * __wb_curand_unit_double(y0, y1));
}
template <typename State> __device__ inline float2 curand_normal2(State* state) {
    unsigned x = curand(state), y = curand(state);
    return __wb_curand_pair(x, y);
}
__device__ inline float2 curand_normal2(curandStateMRG32k3a* state) {
    float u = curand_uniform(state), v = curand_uniform(state);
    return __wb_box_muller(u, v * 0x1.921fb6p2f);
}
template <typename State> __device__ inline double2 curand_normal2_double(State* state) {
    unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
    return __wb_curand_pair_double(x0, x1, y0, y1);
}
__device__ inline double2 curand_normal2_double(curandStatePhilox4_32_10* state) {
    uint4 x = curand4(state);
    return __wb_curand_pair_double(x.x, x.y, x.z, x.w);
}
__device__ inline double2 curand_normal2_double(curandStateMRG32k3a* state) {
    double u = curand_uniform_double(state), v = curand_uniform_double(state);
    return __wb_box_muller_double(u, 2.0 * v);
}
__device__ inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
    uint4 x = curand4(state);
    float2 a = __wb_curand_pair(x.x, x.y), b = __wb_curand_pair(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
__device__ inline double4 curand_normal4_double(curandStatePhilox4_32_10* state) {
    double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
    return make_double4(a.x, a.y, b.x, b.y);
}
template <typename State> __device__ inline float2 curand_log_normal2(State* state, float mean, float stddev) {
    float2 z = curand_normal2(state);
    return make_float2(expf(mean + stddev * z.x), expf(mean + stddev * z.y));
}
template <typename State> __device__ inline double2 curand_log_normal2_double(State* state, double mean, double stddev) {
    double2 z = curand_normal2_double(state);
    return make_double2(exp(mean + stddev * z.x), exp(mean + stddev * z.y));
}
__device__ inline float4 curand_log_normal4(curandStatePhilox4_32_10* state, float mean, float stddev) {
    float2 a = curand_log_normal2(state, mean, stddev), b = curand_log_normal2(state, mean, stddev);
    return make_float4(a.x, a.y, b.x, b.y);
}
__device__ inline double4 curand_log_normal4_double(curandStatePhilox4_32_10* state, double mean, double stddev) {
    double2 a = curand_log_normal2_double(state, mean, stddev), b = curand_log_normal2_double(state, mean, stddev);
    return make_double4(a.x, a.y, b.x, b.y);
}

// A single number: the state keeps the other of the pair, and its kind: 1 a normal number, 2 a log-normal one.
#define __WB_CURAND_ONE(T, flag, extra, kind, pair)                                                                           \
    if (state->flag == kind) {                                                                                                \
        state->flag = 0;                                                                                                      \
        return state->extra;                                                                                                  \
    }                                                                                                                         \
    T##2 z = pair;                                                                                                            \
    state->flag = kind;                                                                                                       \
    state->extra = z.y;                                                                                                       \
    return z.x;
template <typename State> __device__ inline float curand_normal(State* state) {
    __WB_CURAND_ONE(float, boxmuller_flag, boxmuller_extra, 1, curand_normal2(state))
}
template <typename State> __device__ inline double curand_normal_double(State* state) {
    __WB_CURAND_ONE(double, boxmuller_flag_double, boxmuller_extra_double, 1, curand_normal2_double(state))
}
template <typename State> __device__ inline float curand_log_normal(State* state, float mean, float stddev) {
    __WB_CURAND_ONE(float, boxmuller_flag, boxmuller_extra, 2, curand_log_normal2(state, mean, stddev))
}
template <typename State> __device__ inline double curand_log_normal_double(State* state, double mean, double stddev) {
    __WB_CURAND_ONE(double, boxmuller_flag_double, boxmuller_extra_double, 2, curand_log_normal2_double(state, mean, stddev))
}
#undef __WB_CURAND_ONE

// Means from 64 to 4000: W. Hoermann, "The transformed rejection method for generating Poisson random variables", 1993 (PTRS).
template <typename State> __device__ inline unsigned __wb_poisson_ptrs(State* state, double lambda) {
    double b = 0.931 + 2.53 * sqrt(lambda), a = -0.059 + 0.02483 * b, log_lambda = log(lambda);
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6624 / (b - 2);
    while (true) {
        double u = curand(state) * 0x1p-32 + (0x1p-33 - 0.5), v = curand(state) * 0x1p-32 + 0x1p-33;
        double edge = 0.5 - fabs(u), k = floor((2 * a / edge + b) * u + lambda + 0.43);
        if (edge >= 0.07 && v <= quick) return (unsigned)k;
        if (k < 0 || edge < 0.013 && v > edge) continue;
        if (log(v * inverse_alpha / (a / (edge * edge) + b)) <= k * log_lambda - lambda - lgamma(k + 1)) return (unsigned)k;
    }
}
// Means below: D. E. Knuth, The Art of Computer Programming, volume 2. Means above: a normal number, rounded.
template <typename State> __device__ inline unsigned curand_poisson(State* state, double lambda) {
    if (lambda > 4000) return (unsigned)(sqrt(lambda) * curand_normal_double(state) + lambda + 0.5);
    if (lambda >= 64) return __wb_poisson_ptrs(state, lambda);
    float p = expf((float)lambda);
    for (unsigned k = 0;; ++k) {
        p *= curand_uniform(state);
        if (!(p > 1)) return k;
    }
}
__device__ inline uint4 curand_poisson4(curandStatePhilox4_32_10* state, double lambda) {
    if (lambda > 4000) {
        double s = sqrt(lambda);
        double4 z = curand_normal4_double(state);
        z = make_double4(s * z.x + lambda, s * z.y + lambda, s * z.z + lambda, s * z.w + lambda);
        return make_uint4((unsigned)(z.x + 0.5), (unsigned)(z.y + 0.5), (unsigned)(z.z + 0.5), (unsigned)(z.w + 0.5));
    }
    unsigned a = curand_poisson(state, lambda), b = curand_poisson(state, lambda), c = curand_poisson(state, lambda);
    return make_uint4(a, b, c, curand_poisson(state, lambda));
}
