/* FMI 2.0, model exchange and co-simulation, for the model of fmu_model.h. */
#include "instance.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* the types and the prefix of functions as FMI 2.0 lays them down */
typedef void *fmi2Component;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef void *fmi2FMUstate;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef int fmi2Type;
typedef int fmi2StatusKind;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged, valuesOfContinuousStatesChanged,
        nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

#ifdef FMI2_FUNCTION_PREFIX
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FMI(name) JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif
#define FUNCTION(name) EXPORT fmi2Status FMI(name)
#define SELF Instance *m = (Instance *)c

EXPORT const char *FMI(fmi2GetTypesPlatform)(void) { return "default"; }
EXPORT const char *FMI(fmi2GetVersion)(void) { return "2.0"; }

FUNCTION(fmi2SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)c; (void)on; (void)n; (void)categories;
    return fmi2OK;
}

EXPORT fmi2Component FMI(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                          const void *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name; (void)type; (void)resources; (void)functions; (void)visible; (void)logging;
    return guid && strcmp(guid, TOKEN) == 0 ? made() : NULL;
}

EXPORT void FMI(fmi2FreeInstance)(fmi2Component c) { free(c); }

FUNCTION(fmi2SetupExperiment)(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start, fmi2Boolean has_stop,
                              fmi2Real stop)
{
    SELF;
    (void)has_stop; (void)stop;
    m->t = start;
    if (has_tolerance && tolerance > 0)
        m->tolerance = tolerance;
    return fmi2OK;
}

FUNCTION(fmi2EnterInitializationMode)(fmi2Component c) { return c ? fmi2OK : fmi2Error; }
FUNCTION(fmi2ExitInitializationMode)(fmi2Component c) { return first_modes_of((Instance *)c) ? fmi2Error : fmi2OK; }
FUNCTION(fmi2Terminate)(fmi2Component c) { return c ? fmi2OK : fmi2Error; }
FUNCTION(fmi2Reset)(fmi2Component c) { begin((Instance *)c); return fmi2OK; }

FUNCTION(fmi2GetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    SELF;
    size_t k;
    for (k = 0; k < n; ++k)
        if (get(m, vr[k], &value[k]))
            return fmi2Error;
    return fmi2OK;
}

FUNCTION(fmi2SetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    SELF;
    size_t k;
    for (k = 0; k < n; ++k)
        if (set(m, vr[k], value[k]))
            return fmi2Error;
    return fmi2OK;
}

/* all variables are real */
#define NO_VARIABLES(Name, type) \
    FUNCTION(fmi2Get##Name)(fmi2Component c, const fmi2ValueReference vr[], size_t n, type value[]) \
    { (void)c; (void)vr; (void)value; return n ? fmi2Error : fmi2OK; } \
    FUNCTION(fmi2Set##Name)(fmi2Component c, const fmi2ValueReference vr[], size_t n, const type value[]) \
    { (void)c; (void)vr; (void)value; return n ? fmi2Error : fmi2OK; }
NO_VARIABLES(Integer, fmi2Integer)
NO_VARIABLES(Boolean, fmi2Boolean)
NO_VARIABLES(String, fmi2String)

/* ---- the whole state of an instance ---- */

FUNCTION(fmi2GetFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    if (!*state && !(*state = malloc(sizeof(Instance))))
        return fmi2Error;
    memcpy(*state, c, sizeof(Instance));
    return fmi2OK;
}

FUNCTION(fmi2SetFMUstate)(fmi2Component c, fmi2FMUstate state) { memcpy(c, state, sizeof(Instance)); return fmi2OK; }
FUNCTION(fmi2FreeFMUstate)(fmi2Component c, fmi2FMUstate *state) { (void)c; free(*state); *state = NULL; return fmi2OK; }

FUNCTION(fmi2SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c; (void)state;
    *size = sizeof(Instance);
    return fmi2OK;
}

FUNCTION(fmi2SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    (void)c;
    if (size < sizeof(Instance))
        return fmi2Error;
    memcpy(bytes, state, sizeof(Instance));
    return fmi2OK;
}

FUNCTION(fmi2DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    (void)c;
    if (size < sizeof(Instance) || (!*state && !(*state = malloc(sizeof(Instance)))))
        return fmi2Error;
    memcpy(*state, bytes, sizeof(Instance));
    return fmi2OK;
}

FUNCTION(fmi2GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                       const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[], fmi2Real value[])
{
    return changes((Instance *)c, unknown, n_unknown, known, n_known, seed, value) ? fmi2Error : fmi2OK;
}

/* ---- model exchange ---- */

FUNCTION(fmi2EnterEventMode)(fmi2Component c) { return c ? fmi2OK : fmi2Error; }
FUNCTION(fmi2EnterContinuousTimeMode)(fmi2Component c) { return c ? fmi2OK : fmi2Error; }

FUNCTION(fmi2NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info)
{
    const int code = discrete_change((Instance *)c);
    memset(info, 0, sizeof *info);
    info->valuesOfContinuousStatesChanged = code > 0;
    info->terminateSimulation = code > 0 && (code & 2);
    return code < 0 ? fmi2Error : fmi2OK;
}

FUNCTION(fmi2CompletedIntegratorStep)(fmi2Component c, fmi2Boolean forward, fmi2Boolean *event, fmi2Boolean *end)
{
    (void)forward;
    *event = needs_event((Instance *)c);
    *end = 0;
    return fmi2OK;
}

FUNCTION(fmi2SetTime)(fmi2Component c, fmi2Real t) { ((Instance *)c)->t = t; return fmi2OK; }

FUNCTION(fmi2SetContinuousStates)(fmi2Component c, const fmi2Real x[], size_t n)
{
    SELF;
    if (n != N_X)
        return fmi2Error;
    memcpy(m->x, x, sizeof(double)*N_X);
    return fmi2OK;
}

FUNCTION(fmi2GetContinuousStates)(fmi2Component c, fmi2Real x[], size_t n)
{
    SELF;
    if (n != N_X)
        return fmi2Error;
    memcpy(x, m->x, sizeof(double)*N_X);
    return fmi2OK;
}

FUNCTION(fmi2GetDerivatives)(fmi2Component c, fmi2Real dx[], size_t n)
{
    SELF;
    if (n != N_X)
        return fmi2Error;
    rates(m, m->t, m->x, dx);
    return fmi2OK;
}

FUNCTION(fmi2GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real x[], size_t n)
{
    size_t k;
    (void)c;
    for (k = 0; k < n; ++k)
        x[k] = 1;
    return fmi2OK;
}

FUNCTION(fmi2GetEventIndicators)(fmi2Component c, fmi2Real z[], size_t n)
{
    SELF;
    if (n != N_Z)
        return fmi2Error;
    guards(m, m->t, m->x, z);
    return fmi2OK;
}

/* ---- co-simulation ---- */

FUNCTION(fmi2DoStep)(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_return)
{
    SELF;
    (void)no_return;
    if (has_ended(m))
        return fmi2Discard;
    m->t = t;
    if (advance(m, t + h))
        return fmi2Error;
    return has_ended(m) ? fmi2Discard : fmi2OK;
}

FUNCTION(fmi2CancelStep)(fmi2Component c) { (void)c; return fmi2Error; }

FUNCTION(fmi2SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[],
                                      const fmi2Real value[])
{
    (void)c; (void)vr; (void)order; (void)value;
    return n ? fmi2Error : fmi2OK;
}

FUNCTION(fmi2GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[],
                                       fmi2Real value[])
{
    (void)c; (void)vr; (void)order; (void)value;
    return n ? fmi2Error : fmi2OK;
}

#define NO_STATUS(Name, type) \
    FUNCTION(fmi2Get##Name##Status)(fmi2Component c, const fmi2StatusKind kind, type *value) \
    { (void)c; (void)kind; (void)value; return fmi2Discard; }
FUNCTION(fmi2GetStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)c; (void)kind; (void)value;
    return fmi2Discard;
}
NO_STATUS(Integer, fmi2Integer)

/* the last successful time, and whether an event has ended the motion */
FUNCTION(fmi2GetRealStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    *value = ((Instance *)c)->t;
    return kind == 2 ? fmi2OK : fmi2Discard;
}

FUNCTION(fmi2GetBooleanStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    *value = has_ended((const Instance *)c);
    return kind == 3 ? fmi2OK : fmi2Discard;
}

NO_STATUS(String, fmi2String)
