// test run
// What C's printf prints, worked out by hand from C17 7.21.6.1.

__global__ void formats() {
    printf("[%d|%5d|%-5d|%05d|%+d|% d]\n", 42, 42, 42, 42, 42, 42);
    printf("[%u|%x|%X|%#x|%o|%#o]\n", 255u, 255u, 255u, 255u, 8u, 8u);
    printf("[%f|%.2f|%8.3f|%-8.1f|%e|%.0f]\n", 3.14159265, 3.14159265, 3.14159265, 3.14159265, 31415.9265, 2.5);
    printf("[%g|%g|%g|%G]\n", 0.0001, 1e-5, 123456789.0, 1e-10);
    printf("[%c%c|%s|%10s|%-6s|%.2s]\n", 'o', 'k', "text", "right", "left", "cut");
    printf("[%lld|%llu|%ld|%zu|%hd|%hhd]\n", -5000000000LL, 18446744073709551615ULL, 7L, sizeof(double), 65537, 257);
    printf("[%*d|%-*d|%.*f]\n", 6, 42, 6, 42, 3, 2.0);
    printf("[%5.1f%%|%f|%f]\n", 99.5f, 1.0 / 0.0, -1.0 / 0.0);
    printf("no newline; ");
    printf("%s\n", 1 > 0 ? "yes" : "no");
}
// run: formats<<<1, 1>>>()
//   printf "[42|   42|42   |00042|+42| 42]\n[255|ff|FF|0xff|10|010]\n[3.141593|3.14|   3.142|3.1     |3.141593e+04|2]\n[0.0001|1e-05|1.23457e+08|1E-10]\n[ok|text|     right|left  |cu]\n[-5000000000|18446744073709551615|7|8|1|1]\n[    42|42    |2.000]\n[ 99.5%|inf|-inf]\nno newline; yes\n"
