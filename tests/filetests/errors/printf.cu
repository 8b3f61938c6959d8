// test error

__global__ void f(long long big, float x, const char* s, const char* format) {
    printf("%d %d\n", 1);
    printf("%s\n", 5);
    printf("%d\n", x);
    printf("%d\n", big);
    printf("%q\n", 1);
    printf(format);
    printf("%d\n", 1, 2);
}
// error WB0309 4:5
// error WB0309 5:20
// error WB0309 6:20
// error WB0309 7:20
// error WB0309 8:12
// error WB0309 9:12
// warning WB0309 10:23
