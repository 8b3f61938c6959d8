// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
extern "C" void mandelbrot(int* out, int width, int height, float x0, float y0, float step, int limit) {
#pragma omp parallel for schedule(dynamic, 4)
    for (int py = 0; py < height; ++py) {
        for (int px = 0; px < width; ++px) {
            float cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0;
            int n = 0;
            while (x * x + y * y <= 4.0f && n < limit) {
                float t = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = t;
                n++;
            }
            out[py * width + px] = n;
        }
    }
}
