/* FMI 3.0, model exchange and co-simulation, for the model of fmu_model.h. */
#include <stdbool.h>
#include <stdint.h>

#include "instance.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* the types as FMI 3.0 lays them down */
typedef void *fmi3Instance;
typedef uint32_t fmi3ValueReference;
typedef const char *fmi3String;
typedef const uint8_t *fmi3Binary;
typedef void *fmi3FMUState;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef void (*fmi3Callback)(void);

#define FUNCTION(name) EXPORT fmi3Status name
#define SELF Instance *m = (Instance *)c
#define VRS const fmi3ValueReference vr[], size_t n

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

FUNCTION(fmi3SetDebugLogging)(fmi3Instance c, bool on, size_t n, const fmi3String categories[])
{
    (void)c; (void)on; (void)n; (void)categories;
    return fmi3OK;
}

EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, bool visible, bool logging,
                                                 void *environment, fmi3Callback log)
{
    (void)name; (void)resources; (void)visible; (void)logging; (void)environment; (void)log;
    return token && strcmp(token, TOKEN) == 0 ? made() : NULL;
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, bool visible, bool logging,
                                                bool events, bool early, VRS, void *environment, fmi3Callback log,
                                                fmi3Callback intermediate)
{
    (void)events; (void)early; (void)vr; (void)n; (void)intermediate;
    return fmi3InstantiateModelExchange(name, token, resources, visible, logging, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources, bool visible,
                                                      bool logging, void *environment, fmi3Callback log, fmi3Callback clock,
                                                      fmi3Callback lock, fmi3Callback unlock)
{
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)environment; (void)log; (void)clock; (void)lock;
    (void)unlock;
    return NULL;
}

EXPORT void fmi3FreeInstance(fmi3Instance c) { free(c); }

FUNCTION(fmi3EnterInitializationMode)(fmi3Instance c, bool has_tolerance, double tolerance, double start, bool has_stop, double stop)
{
    SELF;
    (void)has_stop; (void)stop;
    m->t = start;
    if (has_tolerance && tolerance > 0)
        m->tolerance = tolerance;
    return fmi3OK;
}

#define NOTHING_TO_DO(name) FUNCTION(name)(fmi3Instance c) { return c ? fmi3OK : fmi3Error; }
NOTHING_TO_DO(fmi3EnterEventMode)
NOTHING_TO_DO(fmi3Terminate)
NOTHING_TO_DO(fmi3EnterConfigurationMode)
NOTHING_TO_DO(fmi3ExitConfigurationMode)
NOTHING_TO_DO(fmi3EnterContinuousTimeMode)
NOTHING_TO_DO(fmi3EnterStepMode)
NOTHING_TO_DO(fmi3EvaluateDiscreteStates)

FUNCTION(fmi3ExitInitializationMode)(fmi3Instance c) { return first_modes_of((Instance *)c) ? fmi3Error : fmi3OK; }
FUNCTION(fmi3Reset)(fmi3Instance c) { begin((Instance *)c); return fmi3OK; }

FUNCTION(fmi3GetFloat64)(fmi3Instance c, VRS, double value[], size_t size)
{
    SELF;
    size_t k;
    if (size != n)
        return fmi3Error;
    for (k = 0; k < n; ++k)
        if (get(m, vr[k], &value[k]))
            return fmi3Error;
    return fmi3OK;
}

FUNCTION(fmi3SetFloat64)(fmi3Instance c, VRS, const double value[], size_t size)
{
    SELF;
    size_t k;
    if (size != n)
        return fmi3Error;
    for (k = 0; k < n; ++k)
        if (set(m, vr[k], value[k]))
            return fmi3Error;
    return fmi3OK;
}

/* all variables are of the one type */
#define NO_VARIABLES(Name, type) \
    FUNCTION(fmi3Get##Name)(fmi3Instance c, VRS, type value[], size_t size) \
    { (void)c; (void)vr; (void)value; (void)size; return n ? fmi3Error : fmi3OK; } \
    FUNCTION(fmi3Set##Name)(fmi3Instance c, VRS, const type value[], size_t size) \
    { (void)c; (void)vr; (void)value; (void)size; return n ? fmi3Error : fmi3OK; }
NO_VARIABLES(Float32, float)
NO_VARIABLES(Int8, int8_t)
NO_VARIABLES(UInt8, uint8_t)
NO_VARIABLES(Int16, int16_t)
NO_VARIABLES(UInt16, uint16_t)
NO_VARIABLES(Int32, int32_t)
NO_VARIABLES(UInt32, uint32_t)
NO_VARIABLES(Int64, int64_t)
NO_VARIABLES(UInt64, uint64_t)
NO_VARIABLES(Boolean, bool)
NO_VARIABLES(String, fmi3String)

FUNCTION(fmi3GetBinary)(fmi3Instance c, VRS, size_t sizes[], fmi3Binary value[], size_t size)
{
    (void)c; (void)vr; (void)sizes; (void)value; (void)size;
    return n ? fmi3Error : fmi3OK;
}

FUNCTION(fmi3SetBinary)(fmi3Instance c, VRS, const size_t sizes[], const fmi3Binary value[], size_t size)
{
    (void)c; (void)vr; (void)sizes; (void)value; (void)size;
    return n ? fmi3Error : fmi3OK;
}

FUNCTION(fmi3GetDirectionalDerivative)(fmi3Instance c, VRS, const fmi3ValueReference known[], size_t n_known, const double seed[],
                                       size_t n_seed, double value[], size_t size)
{
    if (n_seed != n_known || size != n)
        return fmi3Error;
    return changes((Instance *)c, vr, n, known, n_known, seed, value) ? fmi3Error : fmi3OK;
}

/* ---- what this model does not have: clocks, dependencies, adjoint derivatives ---- */

#define WITHOUT(name, ...) FUNCTION(name)(fmi3Instance c, __VA_ARGS__)
WITHOUT(fmi3GetClock, VRS, bool v[]) { (void)c; (void)vr; (void)v; return n ? fmi3Error : fmi3OK; }
WITHOUT(fmi3SetClock, VRS, const bool v[]) { (void)c; (void)vr; (void)v; return n ? fmi3Error : fmi3OK; }
WITHOUT(fmi3GetNumberOfVariableDependencies, fmi3ValueReference vr, size_t *n) { (void)c; (void)vr; (void)n; return fmi3Error; }
WITHOUT(fmi3GetVariableDependencies, fmi3ValueReference vr, size_t e[], fmi3ValueReference i[], size_t f[], int kinds[], size_t n)
{ (void)c; (void)vr; (void)e; (void)i; (void)f; (void)kinds; (void)n; return fmi3Error; }
WITHOUT(fmi3GetAdjointDerivative, VRS, const fmi3ValueReference known[], size_t k, const double seed[], size_t s, double v[],
        size_t size)
{ (void)c; (void)vr; (void)n; (void)known; (void)k; (void)seed; (void)s; (void)v; (void)size; return fmi3Error; }
WITHOUT(fmi3GetIntervalDecimal, VRS, double v[], int q[]) { (void)c; (void)vr; (void)n; (void)v; (void)q; return fmi3Error; }
WITHOUT(fmi3GetIntervalFraction, VRS, uint64_t v[], uint64_t r[], int q[])
{ (void)c; (void)vr; (void)n; (void)v; (void)r; (void)q; return fmi3Error; }
WITHOUT(fmi3GetShiftDecimal, VRS, double v[]) { (void)c; (void)vr; (void)n; (void)v; return fmi3Error; }
WITHOUT(fmi3GetShiftFraction, VRS, uint64_t v[], uint64_t r[]) { (void)c; (void)vr; (void)n; (void)v; (void)r; return fmi3Error; }
WITHOUT(fmi3SetIntervalDecimal, VRS, const double v[]) { (void)c; (void)vr; (void)n; (void)v; return fmi3Error; }
WITHOUT(fmi3SetIntervalFraction, VRS, const uint64_t v[], const uint64_t r[])
{ (void)c; (void)vr; (void)n; (void)v; (void)r; return fmi3Error; }
WITHOUT(fmi3SetShiftDecimal, VRS, const double v[]) { (void)c; (void)vr; (void)n; (void)v; return fmi3Error; }
WITHOUT(fmi3SetShiftFraction, VRS, const uint64_t v[], const uint64_t r[])
{ (void)c; (void)vr; (void)n; (void)v; (void)r; return fmi3Error; }
WITHOUT(fmi3ActivateModelPartition, fmi3ValueReference vr, double t) { (void)c; (void)vr; (void)t; return fmi3Error; }
WITHOUT(fmi3GetOutputDerivatives, VRS, const int32_t orders[], double v[], size_t size)
{ (void)c; (void)vr; (void)orders; (void)v; (void)size; return n ? fmi3Error : fmi3OK; }

/* ---- the whole state of an instance ---- */

FUNCTION(fmi3GetFMUState)(fmi3Instance c, fmi3FMUState *state)
{
    if (!*state && !(*state = malloc(sizeof(Instance))))
        return fmi3Error;
    memcpy(*state, c, sizeof(Instance));
    return fmi3OK;
}

FUNCTION(fmi3SetFMUState)(fmi3Instance c, fmi3FMUState state) { memcpy(c, state, sizeof(Instance)); return fmi3OK; }
FUNCTION(fmi3FreeFMUState)(fmi3Instance c, fmi3FMUState *state) { (void)c; free(*state); *state = NULL; return fmi3OK; }

FUNCTION(fmi3SerializedFMUStateSize)(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    (void)c; (void)state;
    *size = sizeof(Instance);
    return fmi3OK;
}

FUNCTION(fmi3SerializeFMUState)(fmi3Instance c, fmi3FMUState state, uint8_t bytes[], size_t size)
{
    (void)c;
    if (size < sizeof(Instance))
        return fmi3Error;
    memcpy(bytes, state, sizeof(Instance));
    return fmi3OK;
}

FUNCTION(fmi3DeserializeFMUState)(fmi3Instance c, const uint8_t bytes[], size_t size, fmi3FMUState *state)
{
    (void)c;
    if (size < sizeof(Instance) || (!*state && !(*state = malloc(sizeof(Instance)))))
        return fmi3Error;
    memcpy(*state, bytes, sizeof(Instance));
    return fmi3OK;
}

/* ---- model exchange ---- */

FUNCTION(fmi3UpdateDiscreteStates)(fmi3Instance c, bool *again, bool *end, bool *nominals, bool *values, bool *has_next, double *next)
{
    const int code = discrete_change((Instance *)c);
    *again = *nominals = *has_next = false;
    *values = code > 0;
    *end = code > 0 && (code & 2);
    *next = 0;
    return code < 0 ? fmi3Error : fmi3OK;
}

FUNCTION(fmi3CompletedIntegratorStep)(fmi3Instance c, bool forward, bool *event, bool *end)
{
    (void)forward;
    *event = needs_event((Instance *)c) != 0;
    *end = false;
    return fmi3OK;
}

FUNCTION(fmi3SetTime)(fmi3Instance c, double t) { ((Instance *)c)->t = t; return fmi3OK; }

FUNCTION(fmi3SetContinuousStates)(fmi3Instance c, const double x[], size_t n)
{
    SELF;
    if (n != N_X)
        return fmi3Error;
    memcpy(m->x, x, sizeof(double)*N_X);
    return fmi3OK;
}

FUNCTION(fmi3GetContinuousStates)(fmi3Instance c, double x[], size_t n)
{
    SELF;
    if (n != N_X)
        return fmi3Error;
    memcpy(x, m->x, sizeof(double)*N_X);
    return fmi3OK;
}

FUNCTION(fmi3GetContinuousStateDerivatives)(fmi3Instance c, double dx[], size_t n)
{
    SELF;
    if (n != N_X)
        return fmi3Error;
    rates(m, m->t, m->x, dx);
    return fmi3OK;
}

FUNCTION(fmi3GetNominalsOfContinuousStates)(fmi3Instance c, double x[], size_t n)
{
    size_t k;
    (void)c;
    for (k = 0; k < n; ++k)
        x[k] = 1;
    return fmi3OK;
}

FUNCTION(fmi3GetEventIndicators)(fmi3Instance c, double z[], size_t n)
{
    SELF;
    if (n != N_Z)
        return fmi3Error;
    guards(m, m->t, m->x, z);
    return fmi3OK;
}

FUNCTION(fmi3GetNumberOfEventIndicators)(fmi3Instance c, size_t *n) { (void)c; *n = N_Z; return fmi3OK; }
FUNCTION(fmi3GetNumberOfContinuousStates)(fmi3Instance c, size_t *n) { (void)c; *n = N_X; return fmi3OK; }

/* ---- co-simulation ---- */

FUNCTION(fmi3DoStep)(fmi3Instance c, double t, double h, bool no_return, bool *event, bool *end, bool *early, double *last)
{
    SELF;
    int failed;
    (void)no_return;
    m->t = has_ended(m) ? m->t : t;
    failed = !has_ended(m) && advance(m, t + h);
    *event = *early = false;
    *end = has_ended(m) != 0;
    *last = m->t;
    return failed ? fmi3Error : fmi3OK;
}
