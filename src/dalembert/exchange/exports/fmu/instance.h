/*
 * One instance of a model: time, state, inputs and constants, what follows from them, and a step loop for co-simulation.
 * fmu_model.h says which model: N_X, N_W, N_P, N_Y, N_Z, N_MODES, PROJECTS, DIRECTIONAL, SWITCHES, MODEL(f), START, INPUTS, rows_off, outputs_of.
 *
 * Value references: 0 the time, then states, their derivatives, inputs, constants, outputs, kinetic and potential energy,
 * the tolerance of steps, the distance from the constraint rows at which a state is carried back, the modes of contacts,
 * event indicators.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmu_model.h"

enum {
    AT_X = 1,
    AT_DX = AT_X + N_X,
    AT_W = AT_DX + N_X,
    AT_P = AT_W + N_W,
    AT_Y = AT_P + N_P,
    AT_T = AT_Y + N_Y,
    AT_V,
    AT_TOLERANCE,
    AT_DRIFT,
    AT_MODE,
    AT_Z = AT_MODE + N_MODES,
    AT_END = AT_Z + N_Z
};

typedef struct {
    double t, x[N_X + 1], w[N_W + 1], step, tolerance, drift;
    MODEL(parameters) p;
    int changed;
#if SWITCHES
    /* whether the first modes are found, and whether an event has ended the motion */
    int begun, ended;
    MODEL(modes) modes;
#endif
} Instance;

static void begin(Instance *m)
{
    memset(m, 0, sizeof *m);
    memcpy(m->x, START, sizeof(double)*N_X);
    memcpy(m->w, INPUTS, sizeof(double)*N_W);
    m->tolerance = 1e-9;
    m->drift = 1e-9;
    MODEL(defaults)(&m->p);
}

static Instance *made(void)
{
    Instance *m = (Instance *)calloc(1, sizeof(Instance));
    if (m)
        begin(m);
    return m;
}

/* what depends on constants alone is computed again after one of them was set */
static void prepare(Instance *m)
{
    if (m->changed) {
        MODEL(prepare)(&m->p);
        m->changed = 0;
    }
}

/* the first modes, and impacts at the start; 0, or 1 where there are none */
static int first_modes_of(Instance *m)
{
#if SWITCHES
    prepare(m);
    if (MODEL(begin)(m->t, m->x, m->w, &m->p, &m->modes))
        return 1;
    m->begun = 1;
    m->modes.least_height = 10*m->tolerance;
#else
    (void)m;
#endif
    return 0;
}

static void rates(Instance *m, double t, const double *x, double *dx)
{
#if SWITCHES
    /* while initial values are set: the modes that they would have */
    if (!m->begun) {
        Instance other = *m;
        first_modes_of(&other);
        m->p = other.p;
        m->changed = 0;
    }
#endif
    prepare(m);
    MODEL(rates)(t, x, m->w, &m->p, dx);
}

/* 0, or 1 where there is no such variable */
static int get(Instance *m, unsigned vr, double *value)
{
    double dx[N_X + 1], y[N_Y + 1], T, V;
    prepare(m);
    if (vr == 0)
        *value = m->t;
    else if (vr < AT_DX)
        *value = m->x[vr - AT_X];
    else if (vr < AT_W) {
        rates(m, m->t, m->x, dx);
        *value = dx[vr - AT_DX];
    } else if (vr < AT_P)
        *value = m->w[vr - AT_W];
    else if (vr < AT_Y)
        /* a structure of numbers, the constants first */
        *value = ((const double *)&m->p)[vr - AT_P];
    else if (vr < AT_T) {
        outputs_of(m->t, m->x, m->w, &m->p, y);
        *value = y[vr - AT_Y];
    } else if (vr < AT_TOLERANCE) {
        MODEL(energies)(m->t, m->x, m->w, &m->p, &T, &V);
        *value = vr == AT_T ? T : V;
    } else if (vr == AT_TOLERANCE)
        *value = m->tolerance;
    else if (vr == AT_DRIFT)
        *value = m->drift;
#if SWITCHES
    else if (vr < AT_Z)
        *value = m->modes.mode[vr - AT_MODE];
    else if (vr < AT_END) {
        double z[N_Z];
        MODEL(guards)(m->t, m->x, m->w, &m->p, z);
        *value = z[vr - AT_Z];
    }
#endif
    else
        return 1;
    return 0;
}

static int set(Instance *m, unsigned vr, double value)
{
    if (vr == 0)
        m->t = value;
    else if (vr < AT_DX)
        m->x[vr - AT_X] = value;
    else if (vr >= AT_W && vr < AT_P)
        m->w[vr - AT_W] = value;
    else if (vr >= AT_P && vr < AT_Y) {
        ((double *)&m->p)[vr - AT_P] = value;
        m->changed = 1;
    } else if (vr == AT_TOLERANCE && value > 0)
        m->tolerance = value;
    else if (vr == AT_DRIFT && value > 0)
        m->drift = value;
    else
        return 1;
    return 0;
}

/* changes of derivatives, outputs and energies along changes of time, states, inputs and constants; 1 where there are none */
static int changes(Instance *m, const unsigned *unknown, size_t n_unknown, const unsigned *known, size_t n_known, const double *seed,
                   double *value)
{
#if DIRECTIONAL
    double direction[1 + N_X + N_W + N_P] = {0}, change[N_X + N_Y + 2];
    size_t k;
    for (k = 0; k < n_known; ++k) {
        if (known[k] < AT_DX)
            direction[known[k]] += seed[k];
        else if (known[k] >= AT_W && known[k] < AT_Y)
            direction[known[k] - N_X] += seed[k];
        else
            return 1;
    }
    prepare(m);
    MODEL(directional)(m->t, m->x, m->w, &m->p, direction, change);
    for (k = 0; k < n_unknown; ++k) {
        if (unknown[k] >= AT_DX && unknown[k] < AT_W)
            value[k] = change[unknown[k] - AT_DX];
        else if (unknown[k] >= AT_Y && unknown[k] < AT_TOLERANCE)
            value[k] = change[N_X + unknown[k] - AT_Y];
        else
            return 1;
    }
    return 0;
#else
    (void)m; (void)unknown; (void)n_unknown; (void)known; (void)n_known; (void)seed; (void)value;
    return 1;
#endif
}

static int drifted(Instance *m)
{
#if PROJECTS
    prepare(m);
    return rows_off(m->t, m->x, m->w, &m->p) > m->drift;
#else
    (void)m;
    return 0;
#endif
}

/* 1 where the state was carried back, 0 where it stays, -1 where the rows cannot be met */
static int carried_back(Instance *m)
{
#if PROJECTS
    double x[N_X + 1];
    if (!drifted(m))
        return 0;
    memcpy(x, m->x, sizeof x);
    if (!(MODEL(project)(m->t, x, m->w, &m->p) < INFINITY))
        return -1;
    memcpy(m->x, x, sizeof x);
    return 1;
#else
    (void)m;
    return 0;
#endif
}

static void guards(Instance *m, double t, const double *x, double *z)
{
#if SWITCHES
    prepare(m);
    MODEL(guards)(t, x, m->w, &m->p, z);
#else
    (void)m; (void)t; (void)x; (void)z;
#endif
}

/* after a step: whether the state has to be changed */
static int needs_event(Instance *m)
{
#if SWITCHES
    double z[N_Z];
    guards(m, m->t, m->x, z);
    if (MODEL(fallen)(m->t, z, &m->modes))
        return 1;
    MODEL(watch)(z, &m->modes);
#endif
    return drifted(m);
}

/* at an event: 1 where the state or a mode was changed, and 2 added where the motion ends; 0, or -1 on failure */
static int discrete_change(Instance *m)
{
    int code = 0, back;
#if SWITCHES
    prepare(m);
    code = MODEL(transition)(m->t, m->x, m->w, &m->p, &m->modes);
    if (code < 0)
        return -1;
#endif
    back = carried_back(m);
    return back < 0 ? -1 : code | back;
}

/* x + h sum a k */
static void along(double *y, const double *x, double h, const double *a, double k[][N_X + 1], int stages)
{
    int i, s;
    for (i = 0; i < N_X; ++i) {
        double sum = 0;
        for (s = 0; s < stages; ++s)
            sum += a[s]*k[s][i];
        y[i] = x[i] + h*sum;
    }
}

/* one step of the pair of Dormand and Prince, order 5 with an estimate of order 4; the error in units of the tolerance */
static double tried(Instance *m, double h, double *end)
{
    static const double c[7] = {0, 1.0/5, 3.0/10, 4.0/5, 8.0/9, 1, 1};
    static const double a[7][6] = {
        {0},
        {1.0/5},
        {3.0/40, 9.0/40},
        {44.0/45, -56.0/15, 32.0/9},
        {19372.0/6561, -25360.0/2187, 64448.0/6561, -212.0/729},
        {9017.0/3168, -355.0/33, 46732.0/5247, 49.0/176, -5103.0/18656},
        {35.0/384, 0, 500.0/1113, 125.0/192, -2187.0/6784, 11.0/84},
    };
    static const double e[7] = {71.0/57600, 0, -71.0/16695, 71.0/1920, -17253.0/339200, 22.0/525, -1.0/40};
    double k[7][N_X + 1], y[N_X + 1], error[N_X + 1], zero[N_X + 1] = {0}, sum = 0;
    int i, s;
    rates(m, m->t, m->x, k[0]);
    for (s = 1; s < 7; ++s) {
        along(y, m->x, h, a[s], k, s);
        rates(m, m->t + c[s]*h, y, k[s]);
    }
    memcpy(end, y, sizeof y);
    along(error, zero, h, e, k, 7);
    for (i = 0; i < N_X; ++i) {
        const double size = fmax(fabs(m->x[i]), fabs(end[i])), ratio = error[i]/(m->tolerance*(1 + size));
        sum += ratio*ratio;
    }
    return sqrt(sum/(N_X > 0 ? N_X : 1));
}

#if SWITCHES
enum { SAMPLES = 8 };

/* the length of a step up to which a guard may fall, by samples of its cubic polynomial; which guards are above zero before */
static double searched(Instance *m, double h, const double *end)
{
    double f0[N_X + 1], f1[N_X + 1], x[N_X + 1], z[N_Z];
    int i, s;
    rates(m, m->t, m->x, f0);
    rates(m, m->t + h, end, f1);
    for (s = 1; s <= SAMPLES; ++s) {
        const double a = (double)s/SAMPLES, b = 1 - a;
        for (i = 0; i < N_X; ++i)
            x[i] = b*b*(1 + 2*a)*m->x[i] + a*a*(1 + 2*b)*end[i] + a*b*h*(b*f0[i] - a*f1[i]);
        guards(m, m->t + a*h, x, z);
        if (MODEL(fallen)(m->t + a*h, z, &m->modes))
            return a*h;
        MODEL(watch)(z, &m->modes);
    }
    return 2*h;
}

static int falls_at(Instance *m, double h, double *end)
{
    double z[N_Z];
    tried(m, h, end);
    guards(m, m->t + h, end, z);
    if (MODEL(fallen)(m->t + h, z, &m->modes))
        return 1;
    MODEL(watch)(z, &m->modes);
    return 0;
}

/* the step cut off where the first guard falls; its length */
static double cut_off(Instance *m, double h, double *end)
{
    double low = 0, high = searched(m, h, end);
    if (high > h)
        return h;
    if (!falls_at(m, high, end))
        return high;
    while (low < (low + high)/2 && (low + high)/2 < high && high - low > 1e-16*(1 + fabs(m->t))) {
        const double middle = (low + high)/2;
        if (falls_at(m, middle, end))
            high = middle;
        else
            low = middle;
    }
    tried(m, high, end);
    return high;
}
#endif

/* steps up to t1, inputs held; 0, or 1 where no step is small enough or no next mode is found */
static int advance(Instance *m, double t1)
{
    double end[N_X + 1] = {0};
    if (!(m->step > 0))
        m->step = (t1 - m->t)/10;
    while (t1 - m->t > 1e-14*(fabs(t1) + fabs(m->t))) {
        double h = fmin(m->step, t1 - m->t);
        const double error = tried(m, h, end), factor = error > 0 ? 0.9*pow(error, -0.2) : 5;
        if (error <= 1) {
            /* a step cut short by the end of the interval says nothing against a long one */
            m->step = fmax(m->step, h)*(h < m->step ? 1 : fmin(5, fmax(0.2, factor)));
#if SWITCHES
            h = cut_off(m, h, end);
#endif
            m->t += h;
            memcpy(m->x, end, sizeof end);
#if SWITCHES
            if (needs_event(m)) {
                const int code = discrete_change(m);
                if (code < 0)
                    return 1;
                if (code & 2) {
                    m->ended = 1;
                    return 0;
                }
            }
#else
            if (carried_back(m) < 0)
                return 1;
#endif
        } else {
            m->step = h*(error < INFINITY ? fmin(1, fmax(0.2, factor)) : 0.1);
            if (!(m->step > 1e-15*(1 + fabs(m->t))))
                return 1;
        }
    }
    m->t = t1;
    return 0;
}

static int has_ended(const Instance *m)
{
#if SWITCHES
    return m->ended;
#else
    (void)m;
    return 0;
#endif
}

#endif
