/* The loop of the header of an exported model with modes: fourth-order steps of 0.5 ms, guards by bisection. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "m.h"

enum { N = m_n_x };
static m_parameters p;
static m_modes modes;

static void step(double t, double h, const double *x, double *next)
{
    static const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    double k[N] = {0}, at[N];
    int i, s;
    memcpy(next, x, sizeof at);
    for (s = 0; s < 4; ++s) {
        for (i = 0; i < N; ++i)
            at[i] = x[i] + part[s]*h*k[i];
        m_rates(t + part[s]*h, at, NULL, &p, k);
        for (i = 0; i < N; ++i)
            next[i] += h/6*weight[s]*k[i];
    }
}

static int falls(double t, double h, const double *x, double *next)
{
    double z[m_n_z];
    step(t, h, x, next);
    m_guards(t + h, next, NULL, &p, z);
    if (m_fallen(t + h, z, &modes))
        return 1;
    m_watch(z, &modes);
    return 0;
}

int main(int count, char **given)
{
    double t = 0, x[N], next[N];
    const double end = atof(given[1]), length = 5e-4;
    int i, code;
    for (i = 0; i < N && i + 2 < count; ++i)
        x[i] = atof(given[2 + i]);
    m_defaults(&p);
    code = m_begin(t, x, NULL, &p, &modes);
    if (code) {
        printf("begin %d\n", code);
        return 1;
    }
    while (t < end - 1e-12) {
        double high = fmin(length, end - t), low = 0;
        const int fell = falls(t, high, x, next);
        while (fell && high - low > 1e-15*(1 + t) && (low + high)/2 > low && (low + high)/2 < high) {
            const double middle = (low + high)/2;
            if (falls(t, middle, x, next))
                high = middle;
            else
                low = middle;
        }
        step(t, high, x, next);
        t += high;
        memcpy(x, next, sizeof x);
        if (fell) {
            code = m_transition(t, x, NULL, &p, &modes);
            printf("E %.17g %d\n", t, code);
            if (code < 0)
                return 1;
            if (code & m_stop)
                break;
        }
    }
    printf("X %.17g", t);
    for (i = 0; i < N; ++i)
        printf(" %.17g", x[i]);
    printf("\n");
    return 0;
}
